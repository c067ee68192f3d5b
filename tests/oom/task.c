#include "task.h"
#include <unistd.h>
#include "scarcity.h"

enum { LIFE_S = 60, ECHO_LIFE_S = 30, STARTED_MAX = 16, WAIT_MS = 20000, WAIT_AFTER_FAILURE_MS = 500, STEP_MS = 50 };

bool task_enrol(void)
{
    pvm_setopt(PvmAutoErr, 0);
    alarm(LIFE_S);
    return pvm_mytid() > 0;
}

static bool patient;

void task_be_patient(void)
{
    patient = true;
}

/* messages that have not arrived by then were lost for lack of memory */
static int patience_ms(void)
{
    static struct scarcity *scarcity;
    if (!scarcity)
        scarcity = scarcity_map();
    return scarcity && !scarcity->armed && !patient ? WAIT_AFTER_FAILURE_MS : WAIT_MS;
}

bool task_receive(int tid, int tag)
{
    int mid = 0;
    for (int waited_ms = 0; !mid && waited_ms < patience_ms(); waited_ms += STEP_MS) {
        struct timeval step = {0, STEP_MS * 1000};
        mid = pvm_trecv(tid, tag, &step);
    }
    return mid > 0;
}

static bool give_back(void)
{
    int mid = pvm_recv(-1, -1), bytes, tag, from;
    if (mid < 0 || pvm_bufinfo(mid, &bytes, &tag, &from) < 0 || tag == TAG_END)
        return false;
    pvm_setsbuf(mid);
    pvm_send(from, tag);
    pvm_setsbuf(0);
    return true;
}

int task_echo(void)
{
    if (!task_enrol() || pvm_parent() < 0)
        return 0;
    int parent = pvm_parent();
    alarm(ECHO_LIFE_S);
    printf("here\n");
    fflush(stdout);
    if (pvm_notify(PvmTaskExit, TAG_END, 1, &parent) == 0)
        while (give_back())
            ;
    pvm_exit();
    return 0;
}

char *task_program(void)
{
    static char path[4096];
    return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : NULL;
}

static int started[STARTED_MAX], started_count;

bool task_spawn(char *host, int count, int *tids)
{
    char *argv[] = {"echo", NULL};
    int n = pvm_spawn(task_program(), argv, host ? PvmTaskHost : PvmTaskDefault, host, count, tids);
    for (int i = 0; i < n && started_count < STARTED_MAX; i++)
        started[started_count++] = tids[i];
    return n == count;
}

void task_leave(void)
{
    while (started_count)
        pvm_kill(started[--started_count]);
    pvm_exit();
}

void task_end(int count, int *tids)
{
    pvm_initsend(PvmDataDefault);
    pvm_mcast(tids, count, TAG_END);
}
