/*
 * sections_jump.c - a receive that the program leaves with siglongjmp() from a signal handler, and the calls after it.
 */
#include "probe.h"
#include <setjmp.h>

static sigjmp_buf way_out;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(way_out, 1);
}

/* Overwrites the stack frame of the call that was left. */
static __attribute__((noinline)) void reuse_stack(void)
{
    volatile char stack[16384];
    memset((char *)stack, 0xff, sizeof stack);
}

static void out_of_receive(void)
{
    static const struct itimerval soon = {.it_value.tv_usec = 50000};
    static int me;

    probe_quiet();
    me = pvm_mytid();
    signal(SIGALRM, jump);
    if (!sigsetjmp(way_out, 1)) {
        setitimer(ITIMER_REAL, &soon, NULL);
        CALL(pvm_recv(-1, 1));
    }
    FACT("left");
    reuse_stack();
    ID(pvm_initsend(PvmDataDefault));
    CALL(pvm_send(me, 1));
    CALL(pvm_mytid() == me);
    CALL(pvm_recv(-1, 1) > 0);
    CALL(pvm_exit());
}

const struct probe_section probe_jump_table[] = {
    {"jump", out_of_receive},
    {NULL, NULL},
};
