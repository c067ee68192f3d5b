/*
 * test_pvmd_keys.c - the secrets of two daemons in all phases of a replacement: they accept each other's calls unless
 * they are two phases apart, and the old secret is gone at the end.
 */
#include "pvmd/secret/keys.h"
#include <stdbool.h>
#include "core/error.h"
#include "core/log.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/door/listen.h"
#include "pvmd/net/machine.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/tables.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 3, TABLE_MAX = 256, SECOND_AT = 4 + 1 + 16, WRAPPED_AT = SECOND_AT + 16 };

/* ---- functions that keys.c needs ---- */

struct pvmd_daemon pvmd = {.host_index = 1, .master_index = 1};

struct bytes {
    uint8_t data[TABLE_MAX];
    size_t length;
};

static const struct pvmd_table *table;
static pvmd_dm_handler *handler;
static struct bytes sent, question;
static pvmd_answered *asked[MEMBERS];
static unsigned asked_count, answers, orders, ends;
static struct pvmd_keys_answers got;
static unsigned calls;

static void copy(struct bytes *to, const struct pvmc_buf *b)
{
    ck_assert_int_eq(pvmc_buf_error(b), 0);
    ck_assert_uint_le(b->length, TABLE_MAX);
    memcpy(to->data, b->data, b->length);
    to->length = b->length;
}

void pvmd_table_register(enum pvmd_table_kind kind, const struct pvmd_table *t)
{
    ck_assert_uint_eq(kind, PVMD_TABLE_KEYS);
    table = t;
}

uint32_t pvmd_tables_changed(enum pvmd_table_kind kind, const struct pvmc_buf *change, const struct pvmc_buf *answer)
{
    ck_assert_uint_eq(kind, PVMD_TABLE_KEYS);
    ck_assert_ptr_null(answer);
    copy(&sent, change);
    return 1;
}

void pvmd_dm_handle(enum pvmd_dm what, pvmd_dm_handler *h)
{
    ck_assert_uint_eq(what, PVMD_DM_SECRET);
    handler = h;
}

void pvmd_ask(unsigned host_index, enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg)
{
    ck_assert_uint_eq(host_index, asked_count + 1);
    ck_assert_uint_eq(what, PVMD_DM_SECRET);
    ck_assert_ptr_null(arg);
    copy(&question, body);
    asked[asked_count++] = answered;
}

void pvmd_answer(const struct pvmd_question *q, int code, const struct pvmc_buf *body)
{
    ck_assert_int_ne(q->wid, 0);
    ck_assert_int_eq(code, PvmOk);
    ck_assert_ptr_null(body);
    answers++;
}

struct pvmd_host **pvmd_host_list(size_t *count)
{
    static struct pvmd_host hosts[MEMBERS];
    static struct pvmd_host *list[MEMBERS];
    for (unsigned i = 0; i < MEMBERS; i++) {
        hosts[i].index = i + 1;
        list[i] = &hosts[i];
    }
    *count = MEMBERS;
    return list;
}

void pvmd_end(int exit_code, const char *why)
{
    ck_assert_int_eq(exit_code, 1);
    ck_assert_str_eq(why, "the machine's secret was replaced without this host");
    ends++;
}

void pvmd_listen_keys_changed(void)
{
    orders++;
}

/* ---- two daemons ---- */

struct daemon {
    struct pvmd_secrets secrets;
    struct bytes table;
};

static struct daemon master, member;

static void save_table(const struct pvmc_buf *part)
{
    copy(&sent, part);
}

/* A daemon's table, into `sent`. */
static void save(void)
{
    table->save(save_table);
}

static int load(const struct bytes *from)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, from->data, from->length);
    return table->load(&b);
}

static void begin(void)
{
    unit_log_start();
    ck_assert_int_eq(pvmd_machine_new(), 0);
    pvmd_keys_start();
    save();
    master = (struct daemon){*pvmd_secrets, sent};
    member = master;
}

/* This process is one of them, whose table fits its secrets. */
static void become(const struct daemon *d)
{
    *pvmd_secrets = d->secrets;
    pvmd_keys_stop();
    ck_assert_int_eq(load(&d->table), 0);
    ck_assert_mem_eq(pvmd_secrets, &d->secrets, sizeof *pvmd_secrets);
}

static void leave(struct daemon *d)
{
    save();
    *d = (struct daemon){*pvmd_secrets, sent};
}

static void advance(void)
{
    become(&master);
    ck_assert_int_eq(pvmd_keys_phase() == PVMD_KEYS_ALONE ? pvmd_keys_offer() : pvmd_keys_advance(), 0);
    leave(&master);
}

static int follow(struct daemon *d, const struct bytes *t)
{
    become(d);
    unsigned before = orders;
    int rc = load(t);
    ck_assert_uint_gt(orders, before);
    leave(d);
    return rc;
}

static bool accepts(const struct daemon *called, const struct pvmd_machine *m)
{
    int place;
    *pvmd_secrets = called->secrets;
    const struct pvmd_key *key = pvmd_machine_key(m->id, &place);
    return key && !memcmp(key->machine.secret, m->secret, sizeof m->secret);
}

static bool speak(void)
{
    return accepts(&master, &member.secrets.own.machine) && accepts(&member, &master.secrets.own.machine);
}

/* ---- tests ---- */

START_TEST(neighbouring_phases_accept_each_other)
{
    begin();
    struct pvmd_machine old = master.secrets.own.machine;
    for (unsigned number = 1; number <= 3; number++) {
        for (int phase = PVMD_KEYS_OFFERED; phase <= PVMD_KEYS_ALONE; phase++) {
            advance();
            ck_assert_int_eq(pvmd_keys_phase(), phase);
            ck_assert_uint_eq(pvmd_keys_number(), number);
            ck_assert(speak());
            ck_assert_int_eq(follow(&member, &master.table), 0);
            ck_assert(speak());
            ck_assert_mem_eq(&member.secrets, &master.secrets, sizeof member.secrets);
            ck_assert_int_eq(accepts(&member, &old), phase != PVMD_KEYS_ALONE);
        }
        ck_assert_ptr_null(memmem(&member.secrets, sizeof member.secrets, old.secret, sizeof old.secret));
        old = master.secrets.own.machine;
    }
}
END_TEST

/* What goes to others, or to the journal, holds no secret in the clear, and none at all at the end. */
START_TEST(tables_hold_ciphertext)
{
    static const uint8_t zeros[PVMD_WRAPPED_BYTES];
    begin();
    for (int i = 0; i < 3; i++) {
        advance();
        const struct pvmd_secrets *s = &master.secrets;
        const struct pvmd_machine *second = &s->others[PVMD_PLACE_SECOND].machine;
        ck_assert_ptr_null(memmem(master.table.data, master.table.length, s->own.machine.secret, 8));
        if (i < 2)
            ck_assert_ptr_null(memmem(master.table.data, master.table.length, second->secret, 8));
    }
    ck_assert_mem_eq(master.table.data + SECOND_AT, zeros, PVMD_MACHINE_ID_BYTES);
    ck_assert_mem_eq(master.table.data + WRAPPED_AT, zeros, PVMD_WRAPPED_BYTES);
}
END_TEST

/* The next master may not have the last change of the one before. */
START_TEST(a_member_goes_one_phase_back)
{
    struct daemon next;
    begin();
    for (int i = 0; i < 3; i++) {
        next = member;
        advance();
        ck_assert_int_eq(follow(&member, &master.table), 0);
        ck_assert_int_eq(follow(&member, &next.table), 0);
        ck_assert_mem_eq(&member.secrets, &next.secrets, sizeof next.secrets);
        ck_assert_int_eq(follow(&member, &master.table), 0);
        ck_assert_mem_eq(&member.secrets, &master.secrets, sizeof member.secrets);
    }
}
END_TEST

START_TEST(no_table_brings_an_old_secret_back)
{
    struct bytes old[3];
    begin();
    struct pvmd_machine first = master.secrets.own.machine;
    for (int i = 0; i < 3; i++) {
        advance();
        old[i] = master.table;
        ck_assert_int_eq(follow(&member, &master.table), 0);
    }
    ck_assert_int_eq(follow(&member, &old[0]), PVMC_EDENIED);
    ck_assert_uint_eq(ends, 1); /* no master of this machine can say so */
    advance();
    ck_assert_int_eq(follow(&member, &master.table), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(follow(&member, &old[i]), PVMC_EDENIED);
        ck_assert(!accepts(&member, &first));
        ck_assert(speak());
    }
}
END_TEST

static void check_refused(struct bytes t, size_t length, size_t at, uint8_t flip, int rc)
{
    t.length = length;
    t.data[at] ^= flip;
    struct daemon before = member;
    ck_assert_int_eq(load(&t), rc);
    ck_assert_mem_eq(&pvmd_secrets->own, &before.secrets.own, sizeof before.secrets.own);
}

START_TEST(wrong_tables_are_refused)
{
    begin();
    advance();
    struct bytes t = master.table;
    become(&member);
    for (size_t n = 0; n < t.length; n++)
        check_refused(t, n, 0, 0, PVMC_ESHORT);
    check_refused(t, t.length + 1, 0, 0, PVMC_EFORMAT);
    check_refused(t, t.length, 4, PVMD_KEYS_OFFERED, PVMC_EFORMAT);                   /* phase 0 */
    check_refused(t, t.length, 4, PVMD_KEYS_OFFERED ^ 4, PVMC_EFORMAT);               /* phase 4 */
    check_refused(t, t.length, 4, PVMD_KEYS_OFFERED ^ PVMD_KEYS_ALONE, PVMC_EFORMAT); /* a second one when alone */
    check_refused(t, t.length, 5, 1, PVMC_EDENIED);                                   /* an unknown id */
    check_refused(t, t.length, WRAPPED_AT, 1, PVMC_EDENIED);
    ck_assert_int_eq(load(&t), 0);
}
END_TEST

static void ask_member(unsigned from, int rc)
{
    struct pvmd_question q = {.host_index = from, .wid = 7};
    struct pvmc_buf b;
    pvmc_buf_view(&b, question.data, question.length);
    ck_assert_int_eq(handler(&q, &b), rc);
}

static void done(const struct pvmd_keys_answers *a)
{
    got = *a;
    calls++;
}

/* A member that has not made the change answers when it has. */
START_TEST(a_member_answers_when_it_has_the_change)
{
    begin();
    advance();
    become(&master);
    pvmd_keys_ask_all(done);
    ck_assert_uint_eq(asked_count, MEMBERS);
    become(&member);
    ask_member(2, PVMC_EDENIED); /* not the master */
    ask_member(1, 0);
    ck_assert_uint_eq(answers, 0);
    ck_assert_int_eq(load(&master.table), 0);
    ck_assert_uint_eq(answers, 1);
    ck_assert_int_eq(load(&master.table), 0);
    ck_assert_uint_eq(answers, 1);
    ask_member(1, 0);
    ck_assert_uint_eq(answers, 2);
    question.data[5] ^= 1; /* another secret */
    ask_member(1, 0);
    question.data[5] ^= 1;
    question.data[0]++; /* the next replacement */
    ask_member(1, 0);
    ck_assert_uint_eq(answers, 2);
    question.length--;
    ask_member(1, PVMC_ESHORT);
}
END_TEST

static void check_round(int second, int third, unsigned have, unsigned left, unsigned failed)
{
    struct pvmc_buf empty;
    const int codes[MEMBERS] = {PvmOk, second, third};
    asked_count = calls = 0;
    pvmd_keys_ask_all(done);
    for (unsigned i = 0; i < MEMBERS; i++) {
        ck_assert_uint_eq(calls, 0);
        pvmc_buf_view(&empty, NULL, 0);
        asked[i](NULL, i + 1, codes[i], &empty);
    }
    ck_assert_uint_eq(calls, 1);
    ck_assert_uint_eq(got.have, have);
    ck_assert_uint_eq(got.left, left);
    ck_assert_uint_eq(got.failed, failed);
}

START_TEST(the_master_counts_answers)
{
    begin();
    advance();
    become(&master);
    check_round(PvmOk, PvmOk, 3, 0, 0);
    check_round(PvmHostFail, PvmOk, 2, 1, 0);
    check_round(PvmHostFail, PvmHostFail, 1, 2, 0);
    check_round(PvmNoMem, PvmHostFail, 1, 1, 1);
}
END_TEST

UNIT_MAIN("pvmd_keys", neighbouring_phases_accept_each_other, tables_hold_ciphertext, a_member_goes_one_phase_back,
          no_table_brings_an_old_secret_back, wrong_tables_are_refused, a_member_answers_when_it_has_the_change,
          the_master_counts_answers)
