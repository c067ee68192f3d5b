/* spawn.c - tasks are started, and stopped. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../core/config.h"
#include "../core/error.h"
#include "../core/proto.h"
#include "call.h"
#include "compat.h"
#include "options.h"
#include "output.h"
#include "peer.h"
#include "perror.h"
#include "request.h"
#include "task.h"

#define SPAWN_MAX ((int)PVMI_TID_LOCAL_MASK) /* tasks in one call */

/* ---- environment: carried settings, PVM_EXPORT and the variables that it names ---- */

static int put_variable(struct pvmi_buf *body, const char *name, size_t length)
{
    char *copy = strndup(name, length);
    const char *value = copy ? getenv(copy) : NULL;
    int put = 0;
    if (value && *copy) {
        pvmi_buf_put_u32(body, (uint32_t)(length + 1 + strlen(value)));
        pvmi_buf_put_bytes(body, copy, length);
        pvmi_buf_put_bytes(body, "=", 1);
        pvmi_buf_put_bytes(body, value, strlen(value));
        put = 1;
    }
    free(copy);
    return put;
}

static void put_environment(struct pvmi_buf *body)
{
    struct pvmi_buf variables;
    uint32_t n = 0;
    pvmi_buf_init(&variables);
    for (int i = 0; i < PVMI_CARRIED_COUNT; i++) {
        const char *name = pvmi_setting_table[pvmi_setting_carried[i]].name;
        n += put_variable(&variables, name, strlen(name));
    }
    const char *list = pvmi_config_text(PVMI_SETTING_EXPORT);
    if (*list)
        n += put_variable(&variables, "PVM_EXPORT", strlen("PVM_EXPORT"));
    while (*list) {
        size_t length = strcspn(list, ":");
        n += put_variable(&variables, list, length);
        list += length + (list[length] == ':');
    }
    pvmi_buf_put_u32(body, n);
    pvmi_buf_put_bytes(body, variables.data, variables.length);
    pvmi_buf_free(&variables);
}

/* ---- pvm_spawn ---- */

static void put_arguments(struct pvmi_buf *body, char **argv)
{
    uint32_t argc = 0;
    while (argv && argv[argc])
        argc++;
    pvmi_buf_put_u32(body, argc);
    for (uint32_t i = 0; i < argc; i++)
        pvmi_buf_put_string(body, argv[i]);
}

static void put_destinations(struct pvmi_buf *body)
{
    pvmi_buf_put_u32(body, (uint32_t)pvmmyctx);
    pvmi_buf_put_i32(body, pvmctrc.outtid);
    pvmi_buf_put_i32(body, pvmctrc.outctx);
    pvmi_buf_put_i32(body, pvmctrc.outtag);
    pvmi_buf_put_i32(body, pvmctrc.trctid);
    pvmi_buf_put_i32(body, pvmctrc.trcctx);
    pvmi_buf_put_i32(body, pvmctrc.trctag);
    pvmi_buf_put_string(body, pvmctrc.tmask);
    pvmi_buf_put_i32(body, pvmctrc.trcbuf);
    pvmi_buf_put_i32(body, pvmctrc.trcopt);
}

static bool we_catch_output(void)
{
    return pvmctrc.outtid == (int)pvmi_task.tid && pvmctrc.outctx == (int)PVMI_CTX_TC &&
           pvmctrc.outtag == (int)PVMI_TC_OUTPUT;
}

/* A new task may have a tid that another one had long ago, and it may have sent to us before the answer came. */
static void welcome(int tid, uint64_t asked)
{
    if (tid <= 0)
        return;
    pvmi_peer_renew((pvmi_tid)tid, asked);
    if (we_catch_output())
        pvmi_output_expect(&tid, 1);
}

static int read_tids(struct pvmi_buf *b, int count, int *tids, uint64_t asked)
{
    if (pvmi_buf_get_u32(b) != (uint32_t)count)
        return PVMI_EFORMAT;
    for (int i = 0; i < count; i++) {
        int tid = pvmi_buf_get_i32(b);
        if (pvmi_buf_error(b))
            return PVMI_EFORMAT;
        welcome(tid, asked);
        if (tids)
            tids[i] = tid;
    }
    return 0;
}

static int spawn(const char *file, char **argv, int flags, const char *where, int count, int *tids)
{
    if (!file || count < 1 || count > SPAWN_MAX)
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmi_buf body;
    struct pvmi_answer answer;
    pvmi_buf_init(&body);
    pvmi_buf_put_string(&body, file);
    put_arguments(&body, argv);
    pvmi_buf_put_u32(&body, (uint32_t)(flags | (int)pvmi_config_integer(PVMI_SETTING_TASK_FLAGS)));
    pvmi_buf_put_string(&body, where);
    pvmi_buf_put_u32(&body, (uint32_t)count);
    put_environment(&body);
    put_destinations(&body);
    uint64_t asked = pvmi_peer_time();
    int started = pvmi_request(PVMI_TM_SPAWN, &body, &answer);
    rc = started < 0 ? started : read_tids(&answer.body, count, tids, asked);
    int end = pvmi_answer_end(&answer);
    return rc ? rc : end ? end : started;
}

int pvm_spawn(char *file, char **argv, int flags, char *where, int count, int *tids)
{
    int *started = tids;
    PVMI_BEGIN(TEV_SPAWN, PVMI_STRING(SE, file), PVMI_STRING(SW, where), PVMI_INT(SF, flags), PVMI_INT(SC, count));
    if (pvmi_watched && !tids && count > 0 && count <= SPAWN_MAX)
        started = malloc(count * sizeof *started); /* to tell of them */
    int rc = pvmi_return("pvm_spawn", spawn(file, argv, flags, where, count, started));
    PVMI_END(TEV_SPAWN, PVMI_INT(CC, rc), PVMI_INTS(STL, started, started && rc > 0 ? rc : 0));
    if (started != tids)
        free(started);
    return rc;
}

/* ---- pvm_sendsig, pvm_kill ---- */

static int signal_task(int tid, int signum)
{
    if (!pvmi_tid_names_task((pvmi_tid)tid) || signum < 0 || signum >= NSIG)
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmi_buf body;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, (uint32_t)tid);
    pvmi_buf_put_i32(&body, signum);
    return pvmi_request(PVMI_TM_SENDSIG, &body, NULL);
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
