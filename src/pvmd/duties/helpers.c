/* helpers.c - see helpers.h. */
#include "helpers.h"
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/spawn/order.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/siblings.h"

#define WORDS_MAX 64

/* Cuts a command into words in place. The list ends with NULL. */
static uint32_t split(char *command, char *words[WORDS_MAX + 1])
{
    uint32_t n = 0;
    char *rest;
    for (char *w = strtok_r(command, " \t", &rest); w && n < WORDS_MAX; w = strtok_r(NULL, " \t", &rest))
        words[n++] = w;
    words[n] = NULL;
    return n;
}

static void started(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    const char *setting = arg;
    (void)host_index;
    pvmc_buf_get_u32(body);
    int result = code < 0 ? code : pvmc_buf_get_i32(body);
    if (result > 0) {
        pvmc_log(PVMC_LOG_INFO, "%s is t%x", setting, (unsigned)result);
        pvmd_siblings_tell(&result, 1);
    } else {
        pvmc_log(PVMC_LOG_ERROR, "%s=%s cannot be started: %s", setting, getenv(setting), pvmc_error_text(result));
    }
}

static void start(enum pvmc_setting which)
{
    static char *none[] = {NULL};
    char *words[WORDS_MAX + 1], *command = strdup(pvmc_config_text(which));
    struct pvmc_buf body;
    if (!command)
        return;
    uint32_t n = split(command, words);
    if (n) {
        struct pvmd_order order = {
            .file = words[0], .arguments = words + 1, .argument_count = n - 1, .environment = none, .trace_mask = ""};
        pvmc_buf_init(&body);
        pvmd_order_put(&body, &order, "", 1);
        pvmc_buf_put_i32(&body, PvmNoParent);
        pvmc_buf_put_u32(&body, 0);
        pvmc_buf_put_u32(&body, 1);
        pvmd_ask(pvmd.host_index, PVMD_DM_EXEC, &body, started, (char *)pvmc_setting_table[which].name);
        pvmc_buf_free(&body);
    }
    free(command);
}

void pvmd_helpers_start(void)
{
    if (pvmd_is_master()) {
        start(PVMC_SETTING_RM_COMMAND);
        start(PVMC_SETTING_HOSTER_COMMAND);
        start(PVMC_SETTING_TRACER_COMMAND);
    }
    start(PVMC_SETTING_TASKER_COMMAND);
}
