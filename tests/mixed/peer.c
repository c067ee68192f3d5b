/* peer.c - see peer.h. */
#include "peer.h"
#include <stdio.h>
#include "tests/machine/runner/check.h"
#include "ways.h"

static struct machine machine;

int is_big_endian(void)
{
    const short one = 1;
    return *(const char *)&one == 0;
}

int machine_via(const struct machine *m, int from, int to)
{
    for (int i = 1; i < m->count; i++)
        if ((from + i) % m->count != to)
            return (from + i) % m->count;
    return to;
}

static void say_hello(void)
{
    int about[] = {(int)sizeof(long), is_big_endian()};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(about, 2, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_HELLO), 0);
}

static void learn_machine(void)
{
    struct machine *m = &machine;
    check_receive(pvm_parent(), TAG_MACHINE);
    CHECK_EQ(pvm_upkint(&m->count, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&m->one_host, 1, 1), 0);
    for (int i = 0; i < m->count; i++) {
        CHECK_EQ(pvm_upkstr(m->arch[i].name), 0);
        CHECK_EQ(pvm_upkstr(m->arch[i].program), 0);
        CHECK_EQ(pvm_upkint(&m->arch[i].sender, 4, 1), 0);
    }
}

static void report(const char *fault)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkstr((char *)(fault ? fault : "")), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_REPORT), 0);
}

/* ---- the table ---- */

static const char *send_all(int from)
{
    static char fault[100];
    int receivers[ARCHES_MAX], via[ARCHES_MAX];
    for (int i = 0; i < machine.count; i++) {
        receivers[i] = machine.arch[i].receiver;
        via[i] = machine.arch[machine_via(&machine, from, i)].sender;
    }
    for (enum way way = 0; way < WAYS; way++)
        for (int row = 0; row < ROWS; row++) {
            int rc = way_has(way, row) ? way_send(way, row, machine.count, receivers, via) : 0;
            if (rc < 0) {
                snprintf(fault, sizeof fault, "sending %s by %s says %d", row_name(row), way_names[way], rc);
                return fault;
            }
        }
    return NULL;
}

static const char *forward_all(int from, int self)
{
    for (int row = 0; row < ROWS; row++)
        for (int to = 0; to < machine.count; to++)
            if (machine_via(&machine, from, to) == self && way_has(WAY_FORWARD, row) &&
                way_forward(row, machine.arch[from].sender, machine.arch[to].receiver) < 0)
                return "forwarding failed";
    return NULL;
}

/* Receives everything, and reports the faults of each: WAYS x ROWS strings. */
static void receive_all(int from, int self)
{
    int via = machine.arch[machine_via(&machine, from, self)].sender;
    static char faults[WAYS][ROWS][200];
    for (enum way way = 0; way < WAYS; way++)
        for (int row = 0; row < ROWS; row++) {
            const char *fault =
                way_has(way, row) ? way_receive(way, row, machine.arch[from].sender, via, machine.arch[from].long_bytes)
                                  : "-";
            snprintf(faults[way][row], sizeof faults[way][row], "%s", fault ? fault : "");
        }
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    for (enum way way = 0; way < WAYS; way++)
        for (int row = 0; row < ROWS; row++)
            CHECK_EQ(pvm_pkstr(faults[way][row]), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_REPORT), 0);
}

static void take_part(int from, int self, int is_sender)
{
    if (!is_sender)
        receive_all(from, self);
    else
        report(from == self ? send_all(from) : forward_all(from, self));
}

/* ---- orders ---- */

static const char *watch(int host)
{
    return pvm_notify(PvmHostDelete, TAG_DELETED, 1, &host) < 0 ? "pvm_notify failed" : NULL;
}

static const char *be_told(int host)
{
    return check_receive_int(-1, TAG_DELETED) == host ? NULL : "another host was deleted";
}

static void obey(int order, int argument, int self, int is_sender)
{
    switch (order) {
    case ORDER_SEND:
        take_part(argument, self, is_sender);
        return;
    case ORDER_ROUTE:
        report(pvm_setopt(PvmRoute, argument) < 0 ? "pvm_setopt failed" : NULL);
        return;
    case ORDER_CONFIG:
        report(check_config(&machine));
        return;
    case ORDER_SPAWN:
        report(check_children(&machine));
        return;
    case ORDER_GROUP:
        report(check_group(&machine));
        return;
    case ORDER_WATCH:
        report(watch(argument));
        return;
    case ORDER_TOLD:
        report(be_told(argument));
        return;
    }
    check_failed(__FILE__, __LINE__, "there is no order %d", order);
}

/* Finds our place in the machine. */
static int find_self(int *is_sender)
{
    int me = pvm_mytid();
    for (int i = 0; i < machine.count; i++) {
        *is_sender = machine.arch[i].sender == me;
        if (*is_sender || machine.arch[i].receiver == me)
            return i;
    }
    check_failed(__FILE__, __LINE__, "t%x is not in the machine", me);
}

void peer(int argc, char **argv)
{
    int order[2] = {0, 0}, is_sender;
    (void)argc, (void)argv;
    values_init();
    pvm_setopt(PvmAutoErr, 0);
    say_hello();
    learn_machine();
    int self = find_self(&is_sender);
    for (;;) {
        CHECK(pvm_recv(pvm_parent(), TAG_ORDER) > 0);
        CHECK_EQ(pvm_upkint(order, 2, 1), 0);
        if (order[0] == ORDER_END)
            return;
        obey(order[0], order[1], self, is_sender);
    }
}
