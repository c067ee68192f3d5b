/* tokens.c - see tokens.h. */
#include "tokens.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "core/message/token.h"
#include "pvm3.h"
#include "pvmd/base/self.h"
#include "pvmd/door/listen.h"
#include "pvmd/quorum/petition.h"
#include "forward.h"
#include "wire/address.h"

#define NEVER_US  INT64_MAX
#define UNLIMITED UINT32_MAX /* uses */

/* The key of the token is in its place (machine.h). */
struct token {
    bool in_use; /* this entry */
    bool revoked;
    uint32_t uses_left;
    uint32_t taken;      /* of these, by daemons that are joining; at the master only */
    int64_t expires_us;  /* by our clock */
    uint32_t returns;    /* hosts that are lost and may come back ... */
    int64_t returns_us;  /* ... until then */
    bool is_unpublished; /* the other members do not know its last change */
};

static struct token tokens[PVMD_TOKENS_MAX];
static uint32_t published; /* number of the last change */
static void (*tell_revoked)(unsigned place);

static struct token *token_at(unsigned place)
{
    return &tokens[place - PVMD_PLACE_TOKENS];
}

static unsigned place_of(const struct token *t)
{
    return PVMD_PLACE_TOKENS + (unsigned)(t - tokens);
}

static const uint8_t *id_of(const struct token *t)
{
    return pvmd_secrets->others[place_of(t)].machine.id + PVMD_MACHINE_ID_BYTES - PVMC_TOKEN_ID_BYTES;
}

const char *pvmd_tokens_id(unsigned place)
{
    static char text[PVMC_TOKEN_ID_TEXT];
    pvmc_token_format_id(id_of(token_at(place)), text);
    return text;
}

static void forget(struct token *t)
{
    pvmd_machine_set_other(place_of(t), NULL);
    *t = (struct token){0};
}

/* Another token takes its entry: hosts that joined with this one cannot come back with the other. Each member does so.
 */
static void detach_hosts(const struct token *t)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        if (members[i]->token == t - tokens + 1)
            members[i]->token = 0;
}

/* ---- what it is good for ---- */

static bool lets_return(const struct token *t)
{
    return t->returns && pvmc_clock_us() < t->returns_us;
}

static bool is_expired(const struct token *t)
{
    return pvmc_clock_us() >= t->expires_us;
}

static enum pvmc_token_state state_of(const struct token *t)
{
    if (t->revoked)
        return PVMC_TOKEN_REVOKED;
    if (is_expired(t))
        return PVMC_TOKEN_EXPIRED;
    return t->uses_left ? PVMC_TOKEN_GOOD : PVMC_TOKEN_USED_UP;
}

/* How many hosts it lets in, those included for which a use is set aside. */
static uint64_t uses_of(const struct token *t)
{
    uint64_t uses = is_expired(t) ? 0 : t->uses_left;
    return t->revoked ? 0 : uses + (lets_return(t) ? t->returns : 0);
}

enum pvmd_verdict pvmd_tokens_judge(unsigned place)
{
    static const enum pvmd_verdict verdicts[] = {[PVMC_TOKEN_EXPIRED] = PVMD_VERDICT_EXPIRED,
                                                 [PVMC_TOKEN_USED_UP] = PVMD_VERDICT_USED_UP,
                                                 [PVMC_TOKEN_REVOKED] = PVMD_VERDICT_REVOKED};
    static const char *const words[] = {[PVMC_TOKEN_EXPIRED] = "it has expired",
                                        [PVMC_TOKEN_USED_UP] = "it is used up",
                                        [PVMC_TOKEN_REVOKED] = "it is revoked"};
    const struct token *t = token_at(place);
    enum pvmc_token_state state = state_of(t);
    if (uses_of(t) > t->taken)
        return PVMD_VERDICT_GO;
    if (uses_of(t)) /* they may be given back */
        return PVMD_VERDICT_BUSY;
    pvmc_log(PVMC_LOG_WARNING, "refused a daemon that would join with token %s: %s", pvmd_tokens_id(place),
             words[state]);
    return verdicts[state];
}

/* ---- the table, as all members keep it ---- */

enum { ROW_IN_USE = 1, ROW_REVOKED = 2 };

static void put_us_left(struct pvmc_buf *b, int64_t until_us)
{
    int64_t left_us = until_us - pvmc_clock_us();
    pvmc_buf_put_u64(b, until_us == NEVER_US ? UINT64_MAX : left_us > 0 ? (uint64_t)left_us : 0);
}

static int64_t get_us_left(struct pvmc_buf *b)
{
    uint64_t left_us = pvmc_buf_get_u64(b);
    int64_t now_us = pvmc_clock_us();
    return left_us > (uint64_t)(NEVER_US - now_us) ? NEVER_US : now_us + (int64_t)left_us;
}

static void put_row(struct pvmc_buf *b, const struct token *t)
{
    const struct pvmd_machine *key = &pvmd_secrets->others[place_of(t)].machine;
    pvmc_buf_put_u8(b, (uint8_t)(t - tokens));
    pvmc_buf_put_u8(b, (uint8_t)((t->in_use ? ROW_IN_USE : 0) | (t->revoked ? ROW_REVOKED : 0)));
    pvmc_buf_put_bytes(b, key->id, sizeof key->id);
    pvmc_buf_put_bytes(b, key->secret, sizeof key->secret);
    pvmc_buf_put_u32(b, t->uses_left);
    put_us_left(b, t->expires_us);
    pvmc_buf_put_u32(b, t->returns);
    put_us_left(b, t->returns_us);
}

static int get_row(struct pvmc_buf *b)
{
    struct pvmd_machine key = {0};
    unsigned number = pvmc_buf_get_u8(b), flags = pvmc_buf_get_u8(b);
    pvmc_buf_get_bytes_to(b, key.id, sizeof key.id);
    pvmc_buf_get_bytes_to(b, key.secret, sizeof key.secret);
    struct token t = {.in_use = flags & ROW_IN_USE, .revoked = flags & ROW_REVOKED};
    t.uses_left = pvmc_buf_get_u32(b);
    t.expires_us = get_us_left(b);
    t.returns = pvmc_buf_get_u32(b);
    t.returns_us = get_us_left(b);
    if (pvmc_buf_error(b) || number >= PVMD_TOKENS_MAX)
        return PVMC_EFORMAT;
    if (memcmp(key.id, pvmd_secrets->others[place_of(&tokens[number])].machine.id, sizeof key.id))
        detach_hosts(&tokens[number]);
    tokens[number] = t;
    int rc = pvmd_machine_set_other(place_of(&tokens[number]), t.in_use ? &key : NULL);
    OPENSSL_cleanse(&key, sizeof key);
    return rc;
}

static int apply(struct pvmc_buf *b)
{
    int rc = 0;
    while (!rc && pvmc_buf_left(b))
        rc = get_row(b);
    pvmd_listen_keys_changed();
    return rc;
}

static void wipe(struct pvmc_buf *b)
{
    if (b->data)
        OPENSSL_cleanse(b->data, b->length);
    pvmc_buf_free(b);
}

static void save(void (*piece)(const struct pvmc_buf *part))
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++)
        if (tokens[i].in_use)
            put_row(&b, &tokens[i]);
    piece(&b);
    wipe(&b);
}

static void clear(void)
{
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++)
        forget(&tokens[i]);
    pvmd_listen_keys_changed();
}

static const struct pvmd_table table = {.apply = apply, .save = save, .clear = clear, .load = apply};

/* Hundreds of hosts may join within a second, so one change at a time is under way, and the next one sums up. */
static void publish(void)
{
    struct pvmc_buf b;
    bool any = false;
    if (!pvmd_tables_have_committed(published))
        return;
    pvmc_buf_init(&b);
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++) {
        if (!tokens[i].is_unpublished)
            continue;
        tokens[i].is_unpublished = false;
        put_row(&b, &tokens[i]);
        any = true;
    }
    if (any)
        published = pvmd_tables_changed(PVMD_TABLE_TOKENS, &b, NULL);
    wipe(&b);
}

static void changed(struct token *t)
{
    t->is_unpublished = true;
    publish();
}

void pvmd_tokens_committed(uint32_t seq)
{
    (void)seq;
    if (pvmd_is_master())
        publish();
}

/* ---- uses ---- */

bool pvmd_tokens_take(unsigned place)
{
    struct token *t = token_at(place);
    bool is_left = t->in_use && uses_of(t) > t->taken;
    t->taken += is_left;
    return is_left;
}

void pvmd_tokens_give_back(unsigned place)
{
    struct token *t = token_at(place);
    t->taken -= t->taken > 0;
}

void pvmd_tokens_spend(unsigned place)
{
    struct token *t = token_at(place);
    pvmd_tokens_give_back(place);
    if (t->uses_left == UNLIMITED && !is_expired(t))
        return;
    if (lets_return(t))
        t->returns--;
    else if (t->uses_left)
        t->uses_left--;
    changed(t);
}

bool pvmd_tokens_is_revoked(unsigned place)
{
    return token_at(place)->revoked;
}

void pvmd_tokens_on_revoked(void (*tell)(unsigned place))
{
    tell_revoked = tell;
}

void pvmd_tokens_host_lost(const struct pvmd_host *host)
{
    struct token *t = host->token ? &tokens[host->token - 1] : NULL;
    if (!t || !t->in_use || (t->uses_left == UNLIMITED && t->expires_us == NEVER_US))
        return;
    t->returns = lets_return(t) ? t->returns + 1 : 1;
    t->returns_us = pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_REJOIN_TIMEOUT);
    changed(t);
}

/* ---- making and revoking ---- */

/* A free entry, or that of the token that has been useless longest. NULL: all are in use. */
static struct token *find_room(void)
{
    struct token *oldest = NULL;
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++) {
        struct token *t = &tokens[i];
        if (!t->in_use)
            return t;
        bool is_useless = state_of(t) != PVMC_TOKEN_GOOD && !t->taken && !lets_return(t);
        if (is_useless && (!oldest || t->expires_us < oldest->expires_us))
            oldest = t;
    }
    return oldest;
}

static int enter(const struct pvmc_token *text, uint32_t uses, int64_t expires_us, struct token **entered)
{
    struct token *t = find_room();
    struct pvmd_machine key = pvmd_machine_of_token(text);
    if (!t)
        return PVMC_ELIMIT;
    detach_hosts(t);
    *t = (struct token){.in_use = true, .uses_left = uses, .expires_us = expires_us};
    int rc = pvmd_machine_set_other(place_of(t), &key);
    OPENSSL_cleanse(&key, sizeof key);
    if (rc)
        forget(t);
    pvmd_listen_keys_changed();
    *entered = t;
    return rc;
}

/* Where daemons can call us: addresses of our interfaces, or that of PVM_IP. */
static void put_addresses(struct pvmc_buf *b)
{
    char text[PVMW_ADDRESS_MAX * PVMW_ADDRESS_TEXT];
    struct pvmw_addresses list = {0};
    union pvmw_address a;
    const char *ip = pvmc_config_text(PVMC_SETTING_IP);
    if (*ip && !pvmw_address_parse(ip, pvmd_listen_port(), &a))
        pvmw_addresses_add(&list, &a);
    else
        pvmw_addresses_add_own(&list, pvmd_listen_port());
    if (!list.count && !pvmw_address_parse("127.0.0.1", pvmd_listen_port(), &a))
        pvmw_addresses_add(&list, &a);
    pvmw_addresses_format(&list, text, sizeof text);
    pvmc_buf_put_string(b, text);
}

/* Tells the others of the entry, and then the asker. */
static void answer_changed(const struct pvmd_petition *p, const struct token *t, const struct pvmc_buf *body)
{
    struct pvmc_buf row;
    pvmc_buf_init(&row);
    put_row(&row, t);
    pvmd_petition_changed(p, PVMD_TABLE_TOKENS, &row, PvmOk, body);
    wipe(&row);
}

static int make_token(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    uint32_t uses = pvmc_buf_get_u32(body), seconds = pvmc_buf_get_u32(body);
    char text[PVMC_TOKEN_TEXT];
    struct pvmc_token token;
    struct token *t;
    struct pvmc_buf answer;
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    if (uses > PVMC_TOKEN_USES_MAX || seconds > PVMC_TOKEN_SECONDS_MAX)
        return PVMC_EFORMAT;
    rc = pvmc_token_draw(&token);
    rc = rc ? rc
            : enter(&token, uses ? uses : UNLIMITED, seconds ? pvmc_clock_us() + seconds * INT64_C(1000000) : NEVER_US,
                    &t);
    if (rc) {
        pvmd_petition_answer(p, pvmc_error_public(rc), NULL);
        return 0;
    }
    pvmc_token_format(&token, text);
    pvmc_buf_init(&answer);
    pvmc_buf_put_string(&answer, text);
    put_addresses(&answer);
    answer_changed(p, t, &answer);
    wipe(&answer);
    OPENSSL_cleanse(text, sizeof text);
    OPENSSL_cleanse(&token, sizeof token);
    return 0;
}

static struct token *find(const uint8_t id[PVMC_TOKEN_ID_BYTES])
{
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++)
        if (tokens[i].in_use && !memcmp(id_of(&tokens[i]), id, PVMC_TOKEN_ID_BYTES))
            return &tokens[i];
    return NULL;
}

static int revoke_token(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    char text[PVMC_TOKEN_ID_TEXT];
    uint8_t id[PVMC_TOKEN_ID_BYTES];
    pvmc_buf_get_string_to(body, text, sizeof text);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct token *t = pvmc_token_parse_id(text, id) ? NULL : find(id);
    if (!t) {
        pvmd_petition_answer(p, PvmNotFound, NULL);
        return 0;
    }
    t->revoked = true;
    pvmc_log(PVMC_LOG_INFO, "token %s is revoked", text);
    answer_changed(p, t, NULL);
    if (tell_revoked)
        tell_revoked(place_of(t));
    return 0;
}

static uint32_t seconds_left(const struct token *t)
{
    int64_t left_us = t->expires_us - pvmc_clock_us();
    return t->expires_us == NEVER_US ? UINT32_MAX : left_us > 0 ? (uint32_t)((left_us + 999999) / 1000000) : 0;
}

static int list_tokens(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    struct pvmc_buf answer;
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    pvmc_buf_init(&answer);
    for (unsigned i = 0; i < PVMD_TOKENS_MAX; i++) {
        if (!tokens[i].in_use)
            continue;
        pvmc_buf_put_string(&answer, pvmd_tokens_id(place_of(&tokens[i])));
        pvmc_buf_put_u8(&answer, (uint8_t)state_of(&tokens[i]));
        pvmc_buf_put_u32(&answer, tokens[i].uses_left);
        pvmc_buf_put_u32(&answer, seconds_left(&tokens[i]));
    }
    pvmd_petition_answer(p, PvmOk, &answer);
    pvmc_buf_free(&answer);
    return 0;
}

/* Of a task of any host, at the master. */
static int token_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    switch (pvmc_buf_get_u8(body)) {
    case PVMC_TOKEN_MAKE:
        return make_token(p, body);
    case PVMC_TOKEN_LIST:
        return list_tokens(p, body);
    case PVMC_TOKEN_REVOKE:
        return revoke_token(p, body);
    default:
        return PVMC_EFORMAT;
    }
}

/* ---- requests of tasks ---- */

static int token_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_bytes(&b, body->data, body->length);
    int rc = pvmd_forward(r, PVMD_DM_TOKEN, &b);
    pvmc_buf_free(&b);
    return rc;
}

/* ---- a token made beforehand ---- */

static int read_file(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        pvmc_log(PVMC_LOG_ERROR, "cannot read the token in %s: %s", path, strerror(errno));
        return PVMC_ESYSTEM;
    }
    size_t length = fread(text, 1, size - 1, f);
    text[length] = '\0';
    fclose(f);
    return 0;
}

int pvmd_tokens_accept(const char *path)
{
    char text[2 * PVMC_TOKEN_TEXT];
    const char *why;
    struct pvmc_token token;
    struct token *t;
    int rc = read_file(path, text, sizeof text);
    if (!rc && (rc = pvmc_token_parse(text, &token, &why)))
        pvmc_log(PVMC_LOG_ERROR, "%s does not hold a token: %s; \"pvm token --offline\" makes one", path, why);
    if (!rc && !find(token.id)) /* a daemon that takes its machine back has it already */
        rc = enter(&token, UNLIMITED, NEVER_US, &t);
    else
        t = NULL;
    if (!rc && t)
        changed(t);
    OPENSSL_cleanse(text, sizeof text);
    OPENSSL_cleanse(&token, sizeof token);
    return rc;
}

/* ---- start and end ---- */

void pvmd_tokens_start(void)
{
    pvmd_table_register(PVMD_TABLE_TOKENS, &table);
    pvmd_petition_handle(PVMD_DM_TOKEN, token_petition);
    pvmd_tm_handle((int)PVMC_TM_TOKEN, token_request);
}

void pvmd_tokens_stop(void)
{
    for (unsigned i = 0; i < PVMD_TOKENS_MAX && pvmd_secrets; i++)
        forget(&tokens[i]);
    published = 0;
}
