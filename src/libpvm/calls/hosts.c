/* hosts.c - pvm_addhosts, pvm_addhosterr, pvm_delhosts, pvm_rotate, pvm_halt. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/error.h"
#include "core/message/proto.h"
#include "core/visible.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/options.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

static bool are_names(char **names, int count)
{
    if (!names || count < 1 || count > PVMC_HOST_INDEX_MAX)
        return false;
    for (int i = 0; i < count; i++)
        if (!names[i])
            return false;
    return true;
}

/* Why hosts of the last pvm_addhosts() could not be added: a text or NULL for each. */
static struct {
    char **texts;
    int count;
} reasons;

static void forget_reasons(void)
{
    for (int i = 0; i < reasons.count; i++)
        free(reasons.texts[i]);
    free(reasons.texts);
    reasons.texts = NULL;
    reasons.count = 0;
}

/*
 * Prints the daemon's reason why a host could not be added, since a code alone does not say what to do. PvmAlready is
 * no error: the host must be started by hand, and the text is what the user has to type.
 */
static void print_reason(const char *name, int status, const char *why)
{
    if (!*why || (!pvmi_options.auto_err && status != PvmAlready))
        return;
    fprintf(stderr, "libpvm [%s]: pvm_addhosts(): %s: ", pvmi_identity(), name);
    pvmc_visible_print(stderr, why);
    fputc('\n', stderr);
}

/* Without memory for them there are no reasons: the hosts have been added. */
static void read_reasons(struct pvmc_buf *body, char **names, int count, const int *status)
{
    forget_reasons(); /* another thread's call may have ended meanwhile */
    reasons.texts = calloc((size_t)count, sizeof *reasons.texts);
    reasons.count = reasons.texts ? count : 0;
    for (int i = 0; i < count; i++) {
        char *why = pvmc_buf_get_string(body);
        if (why)
            print_reason(names[i], status[i], why);
        if (i < reasons.count)
            reasons.texts[i] = why;
        else
            free(why);
    }
}

/* Reads the status of each host and, for added hosts, the reasons. */
static int read_status(struct pvmc_buf *body, int tag, char **names, int count, int *status)
{
    int *own = calloc((size_t)count, sizeof *own);
    if (!own)
        return PVMC_ENOMEM;
    for (int i = 0; i < count; i++) {
        own[i] = pvmc_buf_get_i32(body);
        if (status)
            status[i] = own[i];
    }
    if (tag == (int)PVMC_TM_ADDHOSTS)
        read_reasons(body, names, count, own);
    free(own);
    return 0;
}

/* Adds or deletes hosts. Returns how many; status[] gets the outcome of each. */
static int change_hosts(int tag, char **names, int count, int *status)
{
    if (tag == (int)PVMC_TM_ADDHOSTS)
        forget_reasons();
    if (!are_names(names, count))
        return PVMC_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    struct pvmi_answer answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, (uint32_t)count);
    for (int i = 0; i < count; i++)
        pvmc_buf_put_string(&body, names[i]);
    rc = pvmi_request(tag, &body, &answer);
    if (rc >= 0 && pvmc_buf_get_u32(&answer.body) != (uint32_t)count)
        rc = PVMC_EFORMAT;
    if (rc >= 0) {
        int read = read_status(&answer.body, tag, names, count, status);
        rc = read ? read : rc;
    }
    int end = pvmi_answer_end(&answer);
    return rc >= 0 && end ? end : rc;
}

int pvm_addhosts(char **names, int count, int *status)
{
    PVMI_BEGIN(TEV_ADDHOSTS, PVMI_STRINGS(HNL, names, names ? count : 0));
    int rc = pvmi_return("pvm_addhosts", change_hosts(PVMC_TM_ADDHOSTS, names, count, status));
    PVMI_END(TEV_ADDHOSTS, PVMI_INT(CC, rc));
    return rc;
}

const char *pvm_addhosterr(int i)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    const char *text = i >= 0 && i < reasons.count && reasons.texts[i] ? reasons.texts[i] : "";
    PVMI_END(PVMI_UNTRACED);
    return text;
}

int pvm_delhosts(char **names, int count, int *status)
{
    PVMI_BEGIN(TEV_DELHOSTS, PVMI_STRINGS(HNL, names, names ? count : 0));
    int rc = pvmi_return("pvm_delhosts", change_hosts(PVMC_TM_DELHOSTS, names, count, status));
    PVMI_END(TEV_DELHOSTS, PVMI_INT(CC, rc));
    return rc;
}

int pvm_rotate(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_task_need();
    rc = pvmi_return("pvm_rotate", rc ? rc : pvmi_request(PVMC_TM_ROTATE, NULL, NULL));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

static int halt(void)
{
    int rc = pvmi_task_need();
    if (!rc)
        rc = pvmi_request(PVMC_TM_HALT, NULL, NULL);
    return rc == PVMC_EDOWN && pvmi_task.state == PVMI_TASK_LOST ? 0 : rc; /* the daemon was faster */
}

int pvm_halt(void)
{
    PVMI_BEGIN(TEV_HALT);
    bool lost = pvmi_task.state == PVMI_TASK_LOST;
    int rc = pvmi_return("pvm_halt", lost ? PVMC_EDOWN : halt());
    PVMI_END(TEV_HALT, PVMI_INT(CC, rc));
    return rc;
}
