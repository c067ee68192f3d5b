/* keys.c - see keys.h. */
#include "keys.h"
#include <openssl/crypto.h>
#include <string.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/door/listen.h"
#include "pvmd/net/machine.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/tables.h"

/* The table. Ids are of secrets. */
struct keys {
    uint32_t number;
    enum pvmd_keys_phase phase;
    uint8_t own[PVMD_MACHINE_ID_BYTES];
    uint8_t second[PVMD_MACHINE_ID_BYTES]; /* zeros when ALONE */
    uint8_t wrapped[PVMD_WRAPPED_BYTES];   /* the second secret, under the own one */
};

static const uint8_t none[PVMD_MACHINE_ID_BYTES];
static struct keys table_of_keys; /* phase 0: a machine has one secret when it begins */

static struct keys *keys(void)
{
    if (!table_of_keys.phase) {
        table_of_keys.phase = PVMD_KEYS_ALONE;
        memcpy(table_of_keys.own, pvmd_secrets->own.machine.id, sizeof table_of_keys.own);
    }
    return &table_of_keys;
}

enum pvmd_keys_phase pvmd_keys_phase(void)
{
    return keys()->phase;
}

uint32_t pvmd_keys_number(void)
{
    return keys()->number;
}

static const uint8_t *new_id(const struct keys *k)
{
    return k->phase == PVMD_KEYS_OFFERED ? k->second : k->own;
}

/* ---- as bytes ---- */

static void put_keys(struct pvmc_buf *b, const struct keys *k)
{
    pvmc_buf_put_u32(b, k->number);
    pvmc_buf_put_u8(b, (uint8_t)k->phase);
    pvmc_buf_put_bytes(b, k->own, sizeof k->own);
    pvmc_buf_put_bytes(b, k->second, sizeof k->second);
    pvmc_buf_put_bytes(b, k->wrapped, sizeof k->wrapped);
}

static int get_keys(struct pvmc_buf *b, struct keys *k)
{
    k->number = pvmc_buf_get_u32(b);
    k->phase = pvmc_buf_get_u8(b);
    pvmc_buf_get_bytes_to(b, k->own, sizeof k->own);
    pvmc_buf_get_bytes_to(b, k->second, sizeof k->second);
    pvmc_buf_get_bytes_to(b, k->wrapped, sizeof k->wrapped);
    int rc = pvmc_buf_end(b);
    bool is_alone = k->phase == PVMD_KEYS_ALONE, has_second = memcmp(k->second, none, sizeof none);
    return rc || (k->phase >= PVMD_KEYS_OFFERED && k->phase <= PVMD_KEYS_ALONE && is_alone != has_second)
               ? rc
               : PVMC_EFORMAT;
}

/* ---- this daemon's secrets follow the table ---- */

static const uint8_t *second_id(void)
{
    return pvmd_secrets->others[PVMD_PLACE_SECOND].machine.id;
}

static int unwrap_second(const struct keys *k)
{
    struct pvmd_machine m;
    memcpy(m.id, k->second, sizeof m.id);
    int rc = pvmd_machine_unwrap(k->wrapped, &m);
    rc = rc ? rc : pvmd_machine_set_other(PVMD_PLACE_SECOND, &m);
    OPENSSL_cleanse(&m, sizeof m);
    return rc;
}

static int set_second(const struct keys *k)
{
    if (!memcmp(k->second, second_id(), sizeof none))
        return 0;
    return k->phase == PVMD_KEYS_ALONE ? pvmd_machine_set_other(PVMD_PLACE_SECOND, NULL) : unwrap_second(k);
}

/*
 * The table of a new master may be one phase behind ours, or lack the replacement that ours has begun: then the step
 * back is made here. Nothing brings back a secret of an earlier replacement.
 */
static int set_secrets(const struct keys *k)
{
    if (k->number < keys()->number && k->phase != PVMD_KEYS_ALONE)
        return PVMC_EDENIED;
    if (memcmp(k->own, pvmd_secrets->own.machine.id, sizeof k->own)) {
        if (memcmp(k->own, second_id(), sizeof k->own)) {
            pvmd_end(1, "the machine's secret was replaced without this host");
            return PVMC_EDENIED;
        }
        pvmd_machine_swap();
    }
    return set_second(k);
}

static int take(const struct keys *k)
{
    int rc = pvmc_failpoint(PVMC_FAILPOINT_KEYS_CHANGE);
    rc = rc ? rc : set_secrets(k);
    pvmd_listen_keys_changed();
    if (!rc)
        *keys() = *k;
    pvmc_failpoint_done(PVMC_FAILPOINT_KEYS_CHANGE);
    return rc;
}

/* ---- the question of the master, at a member ---- */

/* What the master wants to know of us, as long as we have not answered. */
static struct {
    struct pvmd_question question; /* wid 0: nothing */
    uint32_t number;
    enum pvmd_keys_phase phase;
    uint8_t id[PVMD_MACHINE_ID_BYTES]; /* of the new secret */
} asked;

/* We may be ahead: our change is of a master that was lost. */
static void answer_if_due(void)
{
    if (!asked.question.wid || keys()->number != asked.number || keys()->phase < asked.phase ||
        memcmp(new_id(keys()), asked.id, sizeof asked.id))
        return;
    pvmd_answer(&asked.question, PvmOk, NULL);
    asked.question.wid = 0;
}

static int secret_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    if (q->host_index != pvmd.master_index)
        return PVMC_EDENIED;
    asked.question = *q;
    asked.number = pvmc_buf_get_u32(body);
    asked.phase = pvmc_buf_get_u8(body);
    pvmc_buf_get_bytes_to(body, asked.id, sizeof asked.id);
    int rc = pvmc_buf_end(body);
    if (rc)
        asked.question.wid = 0;
    answer_if_due();
    return rc;
}

/* ---- the table ---- */

static int get_table(struct pvmc_buf *b)
{
    struct keys k = {0};
    int rc = get_keys(b, &k);
    rc = rc ? rc : take(&k);
    if (!rc)
        answer_if_due();
    return rc;
}

static void save(void (*piece)(const struct pvmc_buf *part))
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    put_keys(&b, keys());
    piece(&b);
    pvmc_buf_free(&b);
}

static void clear(void)
{
    /* get_table() replaces all of it, and may need what there was */
}

static const struct pvmd_table table = {.apply = get_table, .save = save, .clear = clear, .load = get_table};

/* ---- at the master ---- */

static int change(const struct keys *k)
{
    static const char *const phases[] = {
        [PVMD_KEYS_OFFERED] = "is offered", [PVMD_KEYS_ADOPTED] = "is used", [PVMD_KEYS_ALONE] = "is the only one"};
    struct pvmc_buf b;
    int rc = take(k);
    if (rc) {
        pvmc_log(PVMC_LOG_ERROR, "cannot change the machine's secret: %s", pvmc_error_text(rc));
        return rc;
    }
    pvmc_log(PVMC_LOG_INFO, "secret %u of this machine %s", (unsigned)k->number, phases[k->phase]);
    pvmc_buf_init(&b);
    put_keys(&b, k);
    pvmd_tables_changed(PVMD_TABLE_KEYS, &b, NULL);
    pvmc_buf_free(&b);
    return 0;
}

int pvmd_keys_offer(void)
{
    struct pvmd_machine m;
    struct keys k = *keys();
    k.number++;
    k.phase = PVMD_KEYS_OFFERED;
    int rc = pvmd_machine_draw(&m);
    rc = rc ? rc : pvmd_machine_wrap(&m, k.wrapped);
    memcpy(k.second, m.id, sizeof k.second);
    OPENSSL_cleanse(&m, sizeof m);
    return rc ? rc : change(&k);
}

/* The members' new own secret is the second one, under which the old one is wrapped from now on. */
static int adopt(struct keys *k)
{
    k->phase = PVMD_KEYS_ADOPTED;
    memcpy(k->own, keys()->second, sizeof k->own);
    memcpy(k->second, keys()->own, sizeof k->second);
    pvmd_machine_swap();
    int rc = pvmd_machine_wrap(&pvmd_secrets->others[PVMD_PLACE_SECOND].machine, k->wrapped);
    rc = rc ? rc : change(k);
    if (rc)
        pvmd_machine_swap();
    return rc;
}

int pvmd_keys_advance(void)
{
    struct keys k = *keys();
    if (keys()->phase == PVMD_KEYS_OFFERED)
        return adopt(&k);
    k.phase = PVMD_KEYS_ALONE;
    memset(k.second, 0, sizeof k.second);
    memset(k.wrapped, 0, sizeof k.wrapped);
    return change(&k);
}

static struct {
    unsigned open;
    struct pvmd_keys_answers answers;
    pvmd_keys_answered *answered;
} round;

static void round_step(void)
{
    if (!--round.open)
        round.answered(&round.answers);
}

static void answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    (void)arg, (void)host_index, (void)body;
    round.answers.have += code >= 0;
    round.answers.left += code == PvmHostFail;
    round.answers.failed += code < 0 && code != PvmHostFail;
    round_step();
}

void pvmd_keys_ask_all(pvmd_keys_answered *all_answered)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, keys()->number);
    pvmc_buf_put_u8(&b, (uint8_t)keys()->phase);
    pvmc_buf_put_bytes(&b, new_id(keys()), PVMD_MACHINE_ID_BYTES);
    round.open = (unsigned)count + 1; /* not over before all are asked */
    round.answers = (struct pvmd_keys_answers){0};
    round.answered = all_answered;
    for (size_t i = 0; i < count; i++)
        pvmd_ask(members[i]->index, PVMD_DM_SECRET, &b, answered, NULL);
    pvmc_buf_free(&b);
    round_step();
}

/* ---- start and end ---- */

void pvmd_keys_start(void)
{
    pvmd_table_register(PVMD_TABLE_KEYS, &table);
    pvmd_dm_handle(PVMD_DM_SECRET, secret_question);
}

void pvmd_keys_stop(void)
{
    table_of_keys = (struct keys){0};
    asked.question.wid = 0;
    round.open = 0;
}
