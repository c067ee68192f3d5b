/*
 * resident.c - a program that is compiled with the headers of Debian's PVM and linked with its libraries, then run with
 * either PVM. Starts the machine if none runs, uses the library's internals as compiled programs do (copied variables,
 * structures, values of constants), and stays in a group until its stdin ends.
 */
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <pvm3.h>
#include <pvmtev.h>

extern struct Pvmtevinfo pvmtevinfo[];
extern struct Pvmtevdid pvmtevdidlist[];
extern struct Pvmtracer pvmctrc;
extern char *pvm_errlist[];
extern int pvm_errno, pvm_nerr, pvmmyctx;

/* An error code must appear in our copy of pvm_errno. */
static void show_errors(void)
{
    pvm_setopt(PvmAutoErr, 0);
    pvm_errno = 12345;
    pvm_freebuf(12345);
    printf("pvm_errno %d of %d: %s\n", pvm_errno, pvm_nerr, pvm_errlist[-pvm_errno]);
    pvm_perror("resident");
    pvm_setopt(PvmAutoErr, 1);
}

static void show_machine(void)
{
    struct pvmhostinfo *hosts;
    struct pvmtaskinfo *tasks;
    int host_count, format_count, task_count;
    pvm_config(&host_count, &format_count, &hosts);
    printf("%d host, %d format: %x %s %d 0x%x\n", host_count, format_count, hosts[0].hi_tid, hosts[0].hi_arch,
           hosts[0].hi_speed, hosts[0].hi_dsig);
    pvm_tasks(pvm_mytid(), &task_count, &tasks);
    printf("%d task: parent %x, host %x, flags %x\n", task_count, tasks[0].ti_ptid, tasks[0].ti_host, tasks[0].ti_flag);
}

static void show_variables(void)
{
    printf("context %d of %d; output context %d, code %d\n", pvmmyctx, pvm_getcontext(), pvmctrc.outctx,
           pvmctrc.outtag);
    printf("events %s ... %s, data %s ... %s\n", pvmtevinfo[TEV_FIRST].name, pvmtevinfo[TEV_MAX].name,
           pvmtevdidlist[0].did, pvmtevdidlist[TEV_DID_MAX].did);
    Pvmtmask mask;
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_SEND);
    printf("masks: %d", pvm_settmask(PvmTaskChild, mask));
    printf(" %d %s\n", pvm_gettmask(PvmTaskChild, mask), mask);
}

static void talk(void)
{
    char text[100] = "";
    int other, bytes, tag, source;
    struct timeval limit = {10, 0};
    printf("spawned %d\n", pvm_spawn("hello_other", NULL, PvmTaskDefault, NULL, 1, &other));
    int buffer = pvm_trecv(other, -1, &limit);
    pvm_bufinfo(buffer, &bytes, &tag, &source);
    pvm_upkstr(text);
    printf("tag %d from %s: %s\n", tag, source == other ? "it" : "somebody else", strtok(text, " "));
}

int main(void)
{
    char line[10];
    printf("start: %d\n", pvm_start_pvmd(0, NULL, 1));
    printf("version %s, enrolled %d\n", pvm_version(), pvm_mytid() > 0);
    show_machine();
    show_variables();
    show_errors();
    talk();
    printf("instance %d", pvm_joingroup("residents"));
    printf(" of %d\n", pvm_gsize("residents"));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
    printf("left: %d", pvm_lvgroup("residents"));
    printf(" %d\n", pvm_exit());
    return 0;
}
