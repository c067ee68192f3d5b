/* hosts.c - the machine grows, shrinks and ends. */
#include <stdint.h>
#include "../core/error.h"
#include "../core/proto.h"
#include "perror.h"
#include "request.h"
#include "task.h"

static bool are_names(char **names, int count)
{
    if (!names || count < 1 || count > PVMI_HOST_INDEX_MAX)
        return false;
    for (int i = 0; i < count; i++)
        if (!names[i])
            return false;
    return true;
}

/* Adds or deletes hosts: how many, and what became of each. */
static int change_hosts(int tag, char **names, int count, int *status)
{
    if (!are_names(names, count))
        return PVMI_EPARAM;
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmi_buf body;
    struct pvmi_answer answer;
    pvmi_buf_init(&body);
    pvmi_buf_put_u32(&body, (uint32_t)count);
    for (int i = 0; i < count; i++)
        pvmi_buf_put_string(&body, names[i]);
    rc = pvmi_request(tag, &body, &answer);
    if (rc >= 0 && pvmi_buf_get_u32(&answer.body) != (uint32_t)count)
        rc = PVMI_EFORMAT;
    for (int i = 0; rc >= 0 && i < count; i++) {
        int result = pvmi_buf_get_i32(&answer.body);
        if (status)
            status[i] = result;
    }
    int end = pvmi_answer_end(&answer);
    return rc >= 0 && end ? end : rc;
}

int pvm_addhosts(char **names, int count, int *status)
{
    return pvmi_return("pvm_addhosts", change_hosts(PVMI_TM_ADDHOSTS, names, count, status));
}

int pvm_delhosts(char **names, int count, int *status)
{
    return pvmi_return("pvm_delhosts", change_hosts(PVMI_TM_DELHOSTS, names, count, status));
}

static int halt(void)
{
    int rc = pvmi_task_need();
    if (!rc)
        rc = pvmi_request(PVMI_TM_HALT, NULL, NULL);
    return rc == PVMI_EDOWN && pvmi_task.state == PVMI_TASK_LOST ? 0 : rc; /* the daemon was quick */
}

int pvm_halt(void)
{
    bool lost = pvmi_task.state == PVMI_TASK_LOST;
    return pvmi_return("pvm_halt", lost ? PVMI_EDOWN : halt());
}
