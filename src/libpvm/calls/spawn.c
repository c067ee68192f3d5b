/* spawn.c - pvm_spawn, pvm_spawnerr, pvm_input, pvm_sendsig, pvm_kill. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"
#include "core/message/proto.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/options.h"
#include "output.h"
#include "libpvm/engine/peer.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

#define SPAWN_MAX ((int)PVMC_TID_LOCAL_MASK) /* tasks in one call */

/* ---- environment: carried settings, PVM_EXPORT and the variables that it names ---- */

static int put_variable(struct pvmc_buf *body, const char *name, size_t length)
{
    char *copy = strndup(name, length);
    const char *value = copy ? getenv(copy) : NULL;
    int put = 0;
    if (value && *copy) {
        pvmc_buf_put_u32(body, (uint32_t)(length + 1 + strlen(value)));
        pvmc_buf_put_bytes(body, copy, length);
        pvmc_buf_put_bytes(body, "=", 1);
        pvmc_buf_put_bytes(body, value, strlen(value));
        put = 1;
    }
    free(copy);
    return put;
}

static void put_environment(struct pvmc_buf *body)
{
    struct pvmc_buf variables;
    uint32_t n = 0;
    pvmc_buf_init(&variables);
    for (int i = 0; i < PVMC_CARRIED_COUNT; i++) {
        const char *name = pvmc_setting_table[pvmc_setting_carried[i]].name;
        n += put_variable(&variables, name, strlen(name));
    }
    const char *list = pvmc_config_text(PVMC_SETTING_EXPORT);
    if (*list)
        n += put_variable(&variables, "PVM_EXPORT", strlen("PVM_EXPORT"));
    while (*list) {
        size_t length = strcspn(list, ":");
        n += put_variable(&variables, list, length);
        list += length + (list[length] == ':');
    }
    pvmc_buf_put_u32(body, n);
    pvmc_buf_put_bytes(body, variables.data, variables.length);
    pvmc_buf_free(&variables);
}

/* ---- pvm_spawn ---- */

static void put_arguments(struct pvmc_buf *body, char **argv)
{
    uint32_t argc = 0;
    while (argv && argv[argc])
        argc++;
    pvmc_buf_put_u32(body, argc);
    for (uint32_t i = 0; i < argc; i++)
        pvmc_buf_put_string(body, argv[i]);
}

static void put_destinations(struct pvmc_buf *body)
{
    pvmc_buf_put_u32(body, (uint32_t)pvmmyctx);
    pvmc_buf_put_i32(body, pvmctrc.outtid);
    pvmc_buf_put_i32(body, pvmctrc.outctx);
    pvmc_buf_put_i32(body, pvmctrc.outtag);
    pvmc_buf_put_i32(body, pvmctrc.trctid);
    pvmc_buf_put_i32(body, pvmctrc.trcctx);
    pvmc_buf_put_i32(body, pvmctrc.trctag);
    pvmc_buf_put_string(body, pvmctrc.tmask);
    pvmc_buf_put_i32(body, pvmctrc.trcbuf);
    pvmc_buf_put_i32(body, pvmctrc.trcopt);
}

static bool we_catch_output(void)
{
    return pvmctrc.outtid == (int)pvmi_task.tid && pvmctrc.outctx == (int)PVMC_CTX_TC &&
           pvmctrc.outtag == (int)PVMC_TC_OUTPUT;
}

/* Prepares for a new task. Its tid may have been another task's, and it may have sent to us before the answer came. */
static void welcome(int tid, uint64_t asked)
{
    if (tid <= 0)
        return;
    pvmi_peer_renew((pvmc_tid)tid, asked);
    if (we_catch_output())
        pvmi_output_expect(&tid, 1);
}

static char *why; /* the last call started fewer tasks than it was to, or NULL */

/* An older daemon gives no reason. Without memory for it there is none, either: the tasks have started. */
static void read_why(struct pvmc_buf *b)
{
    size_t length;
    const uint8_t *text = pvmc_buf_left(b) ? pvmc_buf_get_blob(b, &length) : NULL;
    free(why);
    why = text ? strndup((const char *)text, length) : NULL;
}

static int read_tids(struct pvmc_buf *b, int count, int *tids, uint64_t asked)
{
    if (pvmc_buf_get_u32(b) != (uint32_t)count)
        return PVMC_EFORMAT;
    for (int i = 0; i < count; i++) {
        int tid = pvmc_buf_get_i32(b);
        if (pvmc_buf_error(b))
            return PVMC_EFORMAT;
        welcome(tid, asked);
        if (tids)
            tids[i] = tid;
    }
    read_why(b);
    return 0;
}

static int spawn(const char *file, char **argv, int flags, const char *where, int count, int *tids)
{
    free(why);
    why = NULL;
    if (!file || count < 1 || count > SPAWN_MAX)
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    struct pvmi_answer answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_string(&body, file);
    put_arguments(&body, argv);
    flags |= (int)pvmc_config_integer(PVMC_SETTING_TASK_FLAGS);
    pvmc_buf_put_u32(&body, (uint32_t)flags | PVMC_SPAWN_WHY);
    pvmc_buf_put_string(&body, where);
    pvmc_buf_put_u32(&body, (uint32_t)count);
    put_environment(&body);
    put_destinations(&body);
    uint64_t asked = pvmi_peer_time();
    int started = pvmi_request(PVMC_TM_SPAWN, &body, &answer);
    rc = started < 0 ? started : read_tids(&answer.body, count, tids, asked);
    int end = pvmi_answer_end(&answer);
    return rc ? rc : end ? end : started;
}

const char *pvm_spawnerr(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    const char *text = why ? why : "";
    PVMI_END(PVMI_UNTRACED);
    return text;
}

int pvm_spawn(char *file, char **argv, int flags, char *where, int count, int *tids)
{
    int *started = tids;
    PVMI_BEGIN(TEV_SPAWN, PVMI_STRING(SE, file), PVMI_STRING(SW, where), PVMI_INT(SF, flags), PVMI_INT(SC, count));
    if (pvmi_watched && !tids && count > 0 && count <= SPAWN_MAX)
        started = malloc(count * sizeof *started); /* for the event */
    int rc = pvmi_return("pvm_spawn", spawn(file, argv, flags, where, count, started));
    PVMI_END(TEV_SPAWN, PVMI_INT(CC, rc), PVMI_INTS(STL, started, started && rc > 0 ? rc : 0));
    if (started != tids)
        free(started);
    return rc;
}

/* Begins the body of a request about a task; `good`: the other arguments are. */
static int begin_body(int tid, bool good, struct pvmc_buf *body)
{
    if (!pvmi_tid_names_task((pvmc_tid)tid) || !good)
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    pvmc_buf_init(body);
    if (!rc)
        pvmc_buf_put_u32(body, (uint32_t)tid);
    return rc;
}

/* ---- pvm_input ---- */

static int send_input(int tid, const void *data, int n)
{
    struct pvmc_buf body;
    int rc = begin_body(tid, n >= 0 && n <= PVM_INPUT_MAX && (!n || data), &body);
    if (rc)
        return rc;
    pvmc_buf_put_blob(&body, data, (size_t)n);
    return pvmi_request(PVMC_TM_INPUT, &body, NULL);
}

int pvm_input(int tid, const void *data, int n)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return_answer("pvm_input", send_input(tid, data, n));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

/* ---- pvm_sendsig, pvm_kill ---- */

static int signal_task(int tid, int signum)
{
    struct pvmc_buf body;
    int rc = begin_body(tid, signum >= 0 && signum < NSIG, &body);
    if (rc)
        return rc;
    pvmc_buf_put_i32(&body, signum);
    return pvmi_request(PVMC_TM_SENDSIG, &body, NULL);
}

int pvm_sendsig(int tid, int signum)
{
    PVMI_BEGIN(TEV_SENDSIG, PVMI_INT(TT, tid), PVMI_INT(SN, signum));
    int rc = pvmi_return("pvm_sendsig", signal_task(tid, signum));
    PVMI_END(TEV_SENDSIG, PVMI_INT(CC, rc));
    return rc;
}

int pvm_kill(int tid)
{
    PVMI_BEGIN(TEV_KILL, PVMI_INT(TT, tid));
    int rc = pvmi_return("pvm_kill", signal_task(tid, SIGTERM));
    PVMI_END(TEV_KILL, PVMI_INT(CC, rc));
    return rc;
}
