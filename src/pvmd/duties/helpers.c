/* helpers.c - see helpers.h. */
#include "helpers.h"
#include <stdlib.h>
#include <string.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/log.h"
#include "daemon.h"
#include "order.h"
#include "rpc.h"
#include "siblings.h"

#define WORDS_MAX 64

/* Cuts a command to words in place; the list ends with NULL. */
static uint32_t split(char *command, char *words[WORDS_MAX + 1])
{
    uint32_t n = 0;
    char *rest;
    for (char *w = strtok_r(command, " \t", &rest); w && n < WORDS_MAX; w = strtok_r(NULL, " \t", &rest))
        words[n++] = w;
    words[n] = NULL;
    return n;
}

static void started(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    const char *setting = arg;
    (void)host_index;
    pvmi_buf_get_u32(body);
    int result = code < 0 ? code : pvmi_buf_get_i32(body);
    if (result > 0) {
        pvmi_log(PVMI_LOG_INFO, "%s is t%x", setting, (unsigned)result);
        pvmd_siblings_tell(&result, 1);
    } else {
        pvmi_log(PVMI_LOG_ERROR, "%s=%s cannot be started: %s", setting, getenv(setting), pvmi_error_text(result));
    }
}

static void start(enum pvmi_setting which)
{
    static char *none[] = {NULL};
    char *words[WORDS_MAX + 1], *command = strdup(pvmi_config_text(which));
    struct pvmi_buf body;
    if (!command)
        return;
    uint32_t n = split(command, words);
    if (n) {
        struct pvmd_order order = {
            .file = words[0], .arguments = words + 1, .argument_count = n - 1, .environment = none, .trace_mask = ""};
        pvmi_buf_init(&body);
        pvmd_order_put(&body, &order, "", 1);
        pvmi_buf_put_i32(&body, PvmNoParent);
        pvmi_buf_put_u32(&body, 0);
        pvmi_buf_put_u32(&body, 1);
        pvmd_ask(pvmd.host_index, PVMD_DM_EXEC, &body, started, (char *)pvmi_setting_table[which].name);
        pvmi_buf_free(&body);
    }
    free(command);
}

void pvmd_helpers_start(void)
{
    if (pvmd_is_master()) {
        start(PVMI_SETTING_RM_COMMAND);
        start(PVMI_SETTING_HOSTER_COMMAND);
        start(PVMI_SETTING_TRACER_COMMAND);
    }
    start(PVMI_SETTING_TASKER_COMMAND);
}
