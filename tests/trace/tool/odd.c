/*
 * odd.c - messages that a collector must tolerate: an event of the program's own, and messages that are not events.
 * Started by hand with PVM_TRACE; prints the number of the latter.
 */
#include <stdio.h>
#include <stdlib.h>
#include "pvm3.h"
#include "pvmtev.h"

enum { RANDOM_MESSAGES = 500, LENGTH_MAX = 40 };

static int context, collector, sent;

static void find_collector(void)
{
    char entry[2000];
    struct pvmminfo about;
    snprintf(entry, sizeof entry, "pvm-trace:%s", getenv("PVM_TRACE"));
    int mid = pvm_recvinfo(entry, 0, PvmMboxDefault);
    if (mid < 0 || pvm_getminfo(mid, &about) < 0 || pvm_upkint(&context, 1, 1) < 0)
        exit(1);
    collector = about.src;
}

/* Sends ints as a trace message. */
static void send_ints(int *ints, int count)
{
    int old = pvm_setcontext(context);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(ints, count, 1);
    pvm_send(collector, 1);
    pvm_setcontext(old);
    sent++;
}

#define SEND(...)                                                                                                      \
    do {                                                                                                               \
        int ints[] = {__VA_ARGS__};                                                                                    \
        send_ints(ints, sizeof ints / sizeof ints[0]);                                                                 \
    } while (0)

/* Each breaks one rule of the format. */
static void send_broken(void)
{
    SEND(17);                                                         /* no mark */
    SEND(TEV_MARK_EVENT_RECORD);                                      /* cut off */
    SEND(TEV_MARK_EVENT_RECORD, TEV_PSTAT | TEV_EVENT_EXIT, 1, 2, 3); /* never described */
    SEND(TEV_MARK_EVENT_RECORD, 0x3fff);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, -1);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1 << 30);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1, 0, 5000, TEV_DATA_INT, 1);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1, 0, TEV_DID_CC, 99, 1);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1, 0, TEV_DID_STL, TEV_DATA_INT | TEV_DATA_ARRAY, -5);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1, 0, TEV_DID_STL, TEV_DATA_INT | TEV_DATA_ARRAY, 0x7fffffff);
    SEND(TEV_MARK_EVENT_DESC, TEV_PSTAT, 1, 0, TEV_DID_VID, TEV_DATA_STRING | TEV_DATA_ARRAY, 1000);
    SEND(TEV_MARK_USER_EVENT_RECORD, TEV_USER_DEFINED, 1, 0, 1, 1, TEV_DATA_INT | TEV_DATA_ARRAY, 1000);
    SEND(TEV_MARK_DATA_ID, 0, 4);
}

static void send_random(void)
{
    srand(7);
    for (int i = 0; i < RANDOM_MESSAGES; i++) {
        int ints[LENGTH_MAX], count = 1 + rand() % LENGTH_MAX;
        for (int k = 0; k < count; k++)
            ints[k] = rand() % 3 ? rand() % 160 - 12 : rand();
        ints[0] = -1 - rand() % 12;
        send_ints(ints, count);
    }
}

static void send_own_event(void)
{
    int number = 5;
    double real = 2.5;
    pvm_initsend(PvmDataTrace);
    pvm_pkint(&number, 1, 1);
    pvm_pkstr("five");
    pvm_pkdouble(&real, 1, 1);
    pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE);
}

int main(void)
{
    if (pvm_mytid() < 0)
        return 1;
    find_collector();
    send_own_event();
    send_broken();
    printf("%d\n", sent);
    send_random();
    send_own_event();
    return pvm_exit() < 0;
}
