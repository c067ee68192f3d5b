/*
 * early.c - when a task can read a message that another one sends, in virtual time: early COUNT [PARTS]. An ordinary
 * PVM program sends COUNT numbers to a task on another host, some times. That prints how much later than the first
 * number it gets the last one, in the last message, as a percentage of a round trip of such messages. With PARTS the
 * program works a millisecond for each part before it packs it, after pvm_initsendto(). In the end it gives such a
 * message up, and lets the daemons say so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "dpvm.h"
#include "pvm3.h"

enum { TAG_NUMBERS = 1, TAG_BACK, ROUNDS = 8, WORK_NS = 1000000 };

static int parts;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Gets a message and sends one back. Returns how much later than the first number the last one came. */
static double answer(double *numbers, int count)
{
    pvm_recv(-1, TAG_NUMBERS);
    pvm_upkdouble(numbers, 1, 1);
    double first_s = now_s();
    pvm_upkdouble(numbers + 1, count - 1, 1);
    double last_s = now_s();
    for (int i = 0; i < count; i++)
        if (numbers[i] != i) {
            fprintf(stderr, "early: number %d is %g\n", i, numbers[i]);
            exit(1);
        }
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(numbers, count, 1);
    pvm_send(pvm_parent(), TAG_BACK);
    return last_s - first_s;
}

/* Gets the first half of a message, whose sender gives up the rest. */
static void get_half(double *numbers, int count)
{
    pvm_recv(-1, TAG_NUMBERS);
    pvm_upkdouble(numbers, count / 2, 1);
    pvm_initsend(PvmDataRaw);
    pvm_send(pvm_parent(), TAG_BACK);
    int rc = pvm_upkdouble(numbers, 1, 1);
    if (rc != PvmNoTask) {
        fprintf(stderr, "early: unpacking what was given up returns %d\n", rc);
        exit(1);
    }
    pvm_initsend(PvmDataRaw);
    pvm_send(pvm_parent(), TAG_BACK);
}

static void serve(double *numbers, int count)
{
    double spread_s = 0;
    for (int i = 0; i < ROUNDS; i++)
        spread_s = answer(numbers, count);
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(&spread_s, 1, 1);
    pvm_send(pvm_parent(), TAG_BACK);
    if (parts)
        get_half(numbers, count);
}

static void pack(int tid, double *numbers, int count)
{
    if (!parts) {
        pvm_initsend(PvmDataRaw);
        pvm_pkdouble(numbers, count, 1);
        return;
    }
    pvm_initsendto(PvmDataRaw, tid, TAG_NUMBERS);
    for (int i = 0; i < parts; i++) {
        int from = count * i / parts;
        nanosleep(&(struct timespec){.tv_nsec = WORK_NS}, NULL);
        pvm_pkdouble(numbers + from, count * (i + 1) / parts - from, 1);
    }
}

static double round_trip_s(int tid, double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = i;
    double begun_s = now_s();
    pack(tid, numbers, count);
    pvm_send(tid, TAG_NUMBERS);
    pvm_recv(tid, TAG_BACK);
    pvm_upkdouble(numbers, count, 1);
    return now_s() - begun_s;
}

static void give_half(int tid, double *numbers, int count)
{
    int mid = pvm_initsendto(PvmDataRaw, tid, TAG_NUMBERS);
    pvm_pkdouble(numbers, count / 2, 1);
    pvm_recv(tid, TAG_BACK);
    pvm_setopt(PvmRoute, PvmDontRoute);
    pvm_freebuf(mid);
    pvm_recv(tid, TAG_BACK);
}

static int ask(double *numbers, int count, char **argv)
{
    struct pvmhostinfo *hosts;
    int tid, host_count;
    double spread_s, trip_s = 0;
    if (pvm_config(&host_count, NULL, &hosts) || host_count != 2)
        return 1;
    if (pvm_spawn(argv[0], argv + 1, PvmTaskHost, hosts[1].hi_name, 1, &tid) != 1)
        return 1;
    for (int i = 0; i < ROUNDS; i++)
        trip_s = round_trip_s(tid, numbers, count);
    pvm_recv(tid, TAG_BACK);
    pvm_upkdouble(&spread_s, 1, 1);
    if (parts)
        give_half(tid, numbers, count);
    printf("%.0f %% of %.6f s\n", 100 * spread_s / trip_s, trip_s);
    return 0;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0, code = 0;
    parts = argc > 2 ? atoi(argv[2]) : 0;
    double *numbers = malloc(sizeof *numbers * (size_t)(count > 0 ? count : 1));
    if (count < 2 || !numbers || pvm_mytid() < 0)
        return 2;
    if (pvm_parent() > 0)
        serve(numbers, count);
    else
        code = ask(numbers, count, argv);
    free(numbers);
    pvm_exit();
    return code;
}
