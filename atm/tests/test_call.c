/* test_call.c - calls: set-up, use, refusal, parties; and the encoding of signalling messages. */
#include "lab.h"
#include "core/error.h"
#include "atm/src/network/signal.h"

#define TWO "host a\nhost b\nhost c\nswitch s[1-2]\nlink a s1\nlink s1 s2 rate=100M\nlink b s2\nlink c s2\n"

/* One side of a call, with counts of its events. */
struct side {
    struct lab *lab;
    struct pvma_call *call;
    struct pvma_vc *vc;
    struct pvma_contract contract;
    int connected, ended, cause;
    int parties, parties_refused, party_left;
    enum { ACCEPT, REFUSE, WAIT } answer;
    struct pvma_bandwidth *grant;
    struct lab_inbox *inbox;
};

static void connected(void *arg, struct pvma_call *call, struct pvma_vc *vc, const struct pvma_contract *granted)
{
    struct side *side = arg;
    ck_assert_ptr_eq(pvma_call_vc(call), vc);
    side->vc = vc;
    side->contract = *granted;
    side->connected++;
    if (side->inbox)
        lab_receive(side->lab, vc, side->inbox);
}

static void ended(void *arg, struct pvma_call *call, int cause)
{
    struct side *side = arg;
    (void)call;
    side->ended++;
    side->cause = cause;
    side->call = NULL;
}

static void party(void *arg, struct pvma_call *call, uint16_t number, int cause)
{
    struct side *side = arg;
    (void)call, (void)number;
    side->parties += !cause;
    side->parties_refused += cause != 0;
}

static void party_left(void *arg, struct pvma_call *call, uint16_t number, int cause)
{
    struct side *side = arg;
    (void)call, (void)number, (void)cause;
    side->party_left++;
}

static const struct pvma_call_handler handler = {connected, ended, party, party_left};

static void offered(void *arg, struct pvma_call *call, struct pvma_address caller, const struct pvma_contract *contract)
{
    struct side *side = arg;
    ck_assert_ptr_nonnull(pvma_net_host_with(side->lab->net, caller));
    side->contract = *contract;
    side->call = call;
    if (side->answer == REFUSE) {
        side->call = NULL;
        pvma_call_refuse(call, PVMA_CAUSE_BUSY);
    } else if (side->answer == ACCEPT) {
        side->vc = pvma_call_accept(call, side->grant, &handler, side);
        if (side->inbox)
            lab_receive(side->lab, side->vc, side->inbox);
    }
}

static struct pvma_host *host(struct lab *lab, const char *name)
{
    return pvma_net_host(lab->net, name);
}

static void open_call(struct side *side, const char *from, const char *to, uint32_t asap,
                      const struct pvma_contract *contract)
{
    struct lab *lab = side->lab;
    side->call = pvma_call_open(host(lab, from), pvma_host_address(host(lab, to)), asap, contract, &handler, side);
    ck_assert_ptr_nonnull(side->call);
}

static int64_t reserved(struct lab *lab)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pvma_net_link_count(lab->net); i++)
        sum += pvma_net_link_at(lab->net, i)->reserved_bps + (int64_t)pvma_net_link_at(lab->net, i)->vcs.used;
    return sum;
}

START_TEST(a_duplex_call)
{
    struct lab lab;
    static struct lab_inbox at_a, at_b;
    static uint8_t data[5000];
    lab_open(&lab, TWO, 1);
    struct side a = {.lab = &lab, .inbox = &at_a}, b = {.lab = &lab, .inbox = &at_b};
    struct pvma_contract contract = {
        .aal = PVMA_AAL5, .flow = PVMA_DUPLEX, .wanted = {0, 20000000, 0}, .back_wanted = {0, 10000000, 0}};
    ck_assert_int_eq(pvma_host_listen(host(&lab, "b"), 7, offered, &b), 0);
    ck_assert_int_eq(pvma_host_listen(host(&lab, "b"), 7, offered, &b), PVMC_EEXISTS);
    open_call(&a, "a", "b", 7, &contract);
    ck_assert_ptr_null(pvma_call_vc(a.call));
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.connected, 1);
    ck_assert_int_ge(pvma_sim_now(lab.sim), 3 * 500 * PVMA_US); /* processing in switches and hosts */
    ck_assert_int_eq(pvma_net_link(lab.net, "s1", "s2")->reserved_bps, 20000000);
    ck_assert_int_eq(pvma_net_link(lab.net, "s2", "s1")->reserved_bps, 10000000);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    ck_assert_int_eq(pvma_vc_send(a.vc, data, sizeof data, 0), 0);
    ck_assert_int_eq(pvma_vc_send(b.vc, data, 100, 0), 0);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(at_b.last_length, sizeof data);
    ck_assert_mem_eq(at_b.data, data, sizeof data);
    ck_assert_uint_eq(at_a.last_length, 100);
    pvma_call_release(a.call);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(b.ended, 1);
    ck_assert_int_eq(b.cause, PVMA_CAUSE_NORMAL);
    ck_assert_int_eq(a.ended, 0);
    ck_assert_int_eq(reserved(&lab), 0);
    lab_close(&lab);
}
END_TEST

/* The called side sends at once; its PDUs wait for the caller's handler. */
START_TEST(early_words_are_kept)
{
    struct lab lab;
    static struct lab_inbox at_a;
    lab_open(&lab, TWO, 1);
    struct side a = {.lab = &lab, .inbox = &at_a}, b = {.lab = &lab, .answer = WAIT};
    struct pvma_contract contract = {.aal = PVMA_AAL34, .flow = PVMA_DUPLEX};
    pvma_host_listen(host(&lab, "b"), 1, offered, &b);
    open_call(&a, "a", "b", 1, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_ptr_nonnull(b.call);
    ck_assert_int_eq(a.connected, 0);
    struct pvma_vc *vc = pvma_call_accept(b.call, NULL, &handler, &b);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pvma_vc_send(vc, "hello", 5, 0), 0);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(at_a.pdus, 3);
    pvma_call_release(b.call);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.ended, 1);
    ck_assert_int_eq(reserved(&lab), 0);
    lab_close(&lab);
}
END_TEST

START_TEST(refusals)
{
    struct lab lab;
    lab_open(&lab, TWO, 1);
    struct side b = {.lab = &lab, .answer = REFUSE};
    struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    pvma_host_listen(host(&lab, "b"), 1, offered, &b);
    static const struct {
        uint32_t asap;
        struct pvma_address to;
        int64_t minimum, back;
        int cause;
    } rows[] = {
        {1, {0, 0}, 0, 0, PVMA_CAUSE_BUSY},
        {2, {0, 0}, 0, 0, PVMA_CAUSE_NO_LISTENER},
        {1, {77, 3}, 0, 0, PVMA_CAUSE_NO_ROUTE},
        {1, {4, 99}, 0, 0, PVMA_CAUSE_NO_ROUTE},
        {1, {0, 0}, 100000001, 0, PVMA_CAUSE_NO_BANDWIDTH}, /* between the switches */
        {1, {0, 0}, 0, 100000001, PVMA_CAUSE_NO_BANDWIDTH}, /* the other direction */
        {1, {0, 0}, 149760001, 0, PVMA_CAUSE_NO_BANDWIDTH}, /* on the caller's own link */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct side a = {.lab = &lab};
        contract.wanted.mean_bps = contract.minimum.mean_bps = rows[i].minimum;
        contract.back_wanted.mean_bps = contract.back_minimum.mean_bps = rows[i].back;
        struct pvma_address to = rows[i].to.switch_id ? rows[i].to : pvma_host_address(host(&lab, "b"));
        a.call = pvma_call_open(host(&lab, "a"), to, rows[i].asap, &contract, &handler, &a);
        ck_assert_int_eq(a.ended, 0); /* never from the call itself */
        pvma_sim_run(lab.sim);
        ck_assert_int_eq(a.ended, 1);
        ck_assert_msg(a.cause == rows[i].cause, "row %zu: %s", i, pvma_cause_text(a.cause));
        ck_assert_int_eq(reserved(&lab), 0);
    }
    lab_close(&lab);
}
END_TEST

/* 100 Mbit/s between the switches: 60 fit; then the remaining 40 are granted for 60 with a minimum of 30; then none. */
START_TEST(bandwidth_is_admitted_until_it_is_gone)
{
    struct lab lab;
    lab_open(&lab, TWO, 1);
    struct side b = {.lab = &lab}, a[3] = {{.lab = &lab}, {.lab = &lab}, {.lab = &lab}};
    struct pvma_contract contract = {
        .aal = PVMA_AAL5, .flow = PVMA_SIMPLEX, .wanted = {0, 60000000, 0}, .minimum = {0, 30000000, 0}};
    pvma_host_listen(host(&lab, "b"), 1, offered, &b);
    for (int i = 0; i < 3; i++) {
        open_call(&a[i], "a", "b", 1, &contract);
        pvma_sim_run(lab.sim);
    }
    ck_assert_int_eq(a[0].contract.wanted.mean_bps, 60000000);
    ck_assert_int_eq(a[1].contract.wanted.mean_bps, 40000000);
    ck_assert_int_eq(a[2].cause, PVMA_CAUSE_NO_BANDWIDTH);
    /* what a later link lowered is returned on the first link, too */
    ck_assert_int_eq(pvma_net_link(lab.net, "a", "s1")->reserved_bps, 100000000);
    pvma_call_release(a[0].call);
    pvma_sim_run(lab.sim);
    struct pvma_bandwidth less = {0, 35000000, 0};
    b.grant = &less;
    open_call(&a[2], "a", "b", 1, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a[2].contract.wanted.mean_bps, 35000000); /* the called side granted no more */
    ck_assert_int_eq(pvma_net_link(lab.net, "s1", "s2")->reserved_bps, 75000000);
    lab_close(&lab); /* with calls open */
}
END_TEST

START_TEST(bursts_and_fabric)
{
    struct lab lab;
    lab_open(
        &lab,
        "host a\nhost b\nhost c\nhost d\nswitch s buffer=100 fabric=200M\nlink a s\nlink b s\nlink c s\nlink d s\n", 1);
    struct side b = {.lab = &lab}, one = {.lab = &lab}, two = {.lab = &lab};
    struct pvma_contract contract = {
        .aal = PVMA_AAL5, .flow = PVMA_SIMPLEX, .wanted = {0, 0, 80}, .minimum = {0, 0, 80}};
    pvma_host_listen(host(&lab, "b"), 1, offered, &b);
    pvma_host_listen(host(&lab, "d"), 1, offered, &b);
    open_call(&one, "a", "b", 1, &contract);
    pvma_sim_run(lab.sim);
    open_call(&two, "c", "d", 1, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(one.connected, 1);
    ck_assert_int_eq(two.cause, PVMA_CAUSE_NO_BUFFER);
    contract.wanted = contract.minimum = (struct pvma_bandwidth){0, 120000000, 0};
    open_call(&one, "a", "b", 1, &contract);
    pvma_sim_run(lab.sim);
    open_call(&two, "c", "d", 1, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(one.connected, 2);
    ck_assert_int_eq(two.cause, PVMA_CAUSE_NO_BANDWIDTH);
    lab_close(&lab);
}
END_TEST

START_TEST(multicast_parties)
{
    struct lab lab;
    static struct lab_inbox at[4];
    lab_open(&lab, TWO "host d\nlink d s1\n", 1);
    struct side a = {.lab = &lab}, leaf[4];
    static const char *const names[4] = {"b", "c", "d", "c"}; /* c twice, with two access points */
    for (int i = 0; i < 4; i++) {
        leaf[i] = (struct side){.lab = &lab, .inbox = &at[i]};
        pvma_host_listen(host(&lab, names[i]), (uint32_t)i, offered, &leaf[i]);
    }
    struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_MULTICAST, .wanted = {0, 1000000, 0}};
    open_call(&a, "a", "b", 0, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.connected, 1);
    int numbers[4] = {0};
    for (int i = 1; i < 4; i++) {
        numbers[i] = pvma_call_add_party(a.call, pvma_host_address(host(&lab, names[i])), (uint32_t)i);
        ck_assert_int_gt(numbers[i], 0);
    }
    ck_assert_int_gt(pvma_call_add_party(a.call, pvma_host_address(host(&lab, "d")), 99), 0);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.parties, 3);
    ck_assert_int_eq(a.parties_refused, 1);
    ck_assert_int_eq(pvma_net_link(lab.net, "s1", "s2")->reserved_bps, 1000000); /* shared by three leaves */
    ck_assert_int_eq(pvma_vc_send(a.vc, "first", 5, 0), 0);
    pvma_sim_run(lab.sim);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(at[i].pdus, 1);
    ck_assert_int_eq(pvma_call_drop_party(a.call, (uint16_t)numbers[1]), 0);
    ck_assert_int_eq(pvma_call_drop_party(a.call, 1000), PVMC_ENOTFOUND);
    pvma_call_release(leaf[2].call);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(leaf[1].ended, 1);
    ck_assert_int_eq(a.party_left, 1);
    ck_assert_int_eq(pvma_vc_send(a.vc, "second", 6, 0), 0);
    pvma_sim_run(lab.sim);
    static const unsigned expected[4] = {2, 1, 1, 2};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(at[i].pdus, expected[i]);
    pvma_call_release(a.call);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(leaf[0].ended + leaf[3].ended, 2);
    ck_assert_int_eq(reserved(&lab), 0);
    lab_close(&lab);
}
END_TEST

/* A call that is released at any instant leaves nothing behind. */
START_TEST(released_at_any_time)
{
    for (pvma_ps at = 0; at < 6 * PVMA_MS; at += 131 * PVMA_US) {
        struct lab lab;
        lab_open(&lab, TWO, 1);
        struct side a = {.lab = &lab}, b = {.lab = &lab};
        struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX, .wanted = {0, 1000, 0}};
        pvma_host_listen(host(&lab, "b"), 1, offered, &b);
        open_call(&a, "a", "b", 1, &contract);
        pvma_sim_run_until(lab.sim, at);
        pvma_call_release(a.call);
        open_call(&a, "a", "b", 1, &contract); /* the next one at once */
        pvma_sim_run(lab.sim);
        ck_assert_int_ge(a.connected, 1);
        ck_assert_int_eq(a.ended, 0);
        pvma_call_release(a.call);
        pvma_sim_run(lab.sim);
        ck_assert_int_eq(reserved(&lab), 0);
        lab_close(&lab);
    }
}
END_TEST

/* The caller gives up before the answer: the side that keeps the call is notified and must no longer answer. */
START_TEST(released_before_the_answer)
{
    struct lab lab;
    lab_open(&lab, TWO, 1);
    struct side a = {.lab = &lab}, b = {.lab = &lab, .answer = WAIT};
    struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_SIMPLEX, .wanted = {0, 1000000, 0}};
    ck_assert_int_eq(pvma_host_listen(host(&lab, "b"), 7, offered, &b), 0);
    open_call(&a, "a", "b", 7, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_ptr_nonnull(b.call);
    pvma_call_watch(b.call, &handler, &b);
    pvma_call_release(a.call);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(b.ended, 1);
    ck_assert_ptr_null(b.call);
    ck_assert_int_eq(reserved(&lab), 0);
    lab_close(&lab);
}
END_TEST

/* A link of a host with vcis= carries that many switched VCs; permanent ones do not count. */
START_TEST(identifiers_run_out)
{
    struct lab lab;
    lab_open(&lab, "host a\nhost b vcis=2\nhost c\nswitch s\nlink a s\nlink b s\nlink c s\npvc a b\npvc c b\n", 1);
    struct side b = {.lab = &lab}, callers[3] = {{.lab = &lab}, {.lab = &lab}, {.lab = &lab}};
    struct pvma_contract contract = {.aal = PVMA_AAL5, .flow = PVMA_DUPLEX};
    ck_assert_int_eq(pvma_host_listen(host(&lab, "b"), 7, offered, &b), 0);
    for (int i = 0; i < 3; i++) {
        open_call(&callers[i], i ? "c" : "a", "b", 7, &contract);
        pvma_sim_run(lab.sim);
    }
    ck_assert_int_eq(callers[0].connected + callers[1].connected, 2);
    ck_assert_int_eq(callers[2].cause, PVMA_CAUSE_NO_VCI);
    ck_assert_uint_eq(pvma_net_link(lab.net, "b", "s")->vci_count, 2);
    pvma_call_release(callers[0].call);
    pvma_sim_run(lab.sim);
    open_call(&callers[2], "c", "b", 7, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(callers[2].connected, 1);
    struct side own = {.lab = &lab};
    open_call(&own, "b", "a", 7, &contract);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(own.cause, PVMA_CAUSE_NO_VCI);
    lab_close(&lab);
}
END_TEST

START_TEST(messages)
{
    static const enum pvma_signal_type types[] = {PVMA_SETUP, PVMA_CONNECT, PVMA_RELEASE, PVMA_ADD_PARTY};
    for (int i = 0; i < 4; i++) {
        struct pvma_signal out = {.type = types[i], .call = 0x12345678, .party = 9, .caller = {1, 2}, .called = {3, 4}};
        struct pvma_signal back;
        uint8_t wire[PVMA_SIGNAL_MAX], again[PVMA_SIGNAL_MAX];
        out.contract.aal = PVMA_AAL34;
        out.contract.wanted.peak_bps = 149760000;
        out.cause = 37;
        size_t length = pvma_signal_encode(&out, wire);
        ck_assert_int_eq(pvma_signal_decode(&back, wire, length), 0);
        ck_assert_uint_eq(pvma_signal_encode(&back, again), length);
        ck_assert_mem_eq(wire, again, length);
        for (size_t cut = 0; cut < length; cut++)
            ck_assert_int_ne(pvma_signal_decode(&back, wire, cut), 0);
        wire[0] = 9;
        ck_assert_int_eq(pvma_signal_decode(&back, wire, length), PVMC_EVERSION);
        wire[0] = PVMA_SIGNAL_VERSION;
        wire[1] = 77;
        ck_assert_int_ne(pvma_signal_decode(&back, wire, length), 0);
    }
}
END_TEST

UNIT_MAIN("atm_call", a_duplex_call, early_words_are_kept, refusals, bandwidth_is_admitted_until_it_is_gone,
          bursts_and_fabric, identifiers_run_out, multicast_parties, released_at_any_time, released_before_the_answer,
          messages)
