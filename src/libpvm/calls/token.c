/* token.c - pvm_newtoken, pvm_tokens, pvm_revoke: tokens, with which daemons join by themselves. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/message/proto.h"
#include "core/message/token.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/lock.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

#define ROW_BYTES 13 /* of a listed token, at least */

static int ask(struct pvmc_buf *body, int (*read)(struct pvmc_buf *, void *), void *arg)
{
    int rc = pvmi_task_need();
    if (rc)
        pvmc_buf_free(body);
    return rc ? rc : pvmi_request_read((int)PVMC_TM_TOKEN, body, read, arg);
}

/* The body of a question begins so. */
static void begin(struct pvmc_buf *body, enum pvmc_token_op op)
{
    pvmc_buf_init(body);
    pvmc_buf_put_u8(body, (uint8_t)op);
}

/* ---- making ---- */

struct made {
    char *token, *address;
};

static _Thread_local struct made shown_made;

static void free_made(struct made *m)
{
    if (m->token)
        memset(m->token, 0, strlen(m->token));
    free(m->token);
    free(m->address);
    *m = (struct made){0};
}

static int read_made(struct pvmc_buf *b, void *arg)
{
    struct made *m = arg;
    m->token = pvmc_buf_get_string(b);
    m->address = pvmc_buf_get_string(b);
    return m->token && m->address ? 0 : pvmc_buf_error(b) ? pvmc_buf_error(b) : PVMC_ENOMEM;
}

/* ---- listing ---- */

struct list {
    struct pvmtokeninfo *tokens;
    int count;
};

static _Thread_local struct list shown_list;

static void free_list(struct list *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->tokens[i].ti_id);
    free(l->tokens);
    *l = (struct list){0};
}

static int limit_of(uint32_t value)
{
    return value > INT32_MAX ? -1 : (int)value;
}

static int read_list(struct pvmc_buf *b, void *arg)
{
    struct list *l = arg;
    l->tokens = calloc(pvmc_buf_left(b) / ROW_BYTES + 1, sizeof *l->tokens);
    if (!l->tokens)
        return PVMC_ENOMEM;
    while (pvmc_buf_left(b) && !pvmc_buf_error(b)) {
        struct pvmtokeninfo *t = &l->tokens[l->count];
        t->ti_id = pvmc_buf_get_string(b);
        t->ti_state = pvmc_buf_get_u8(b);
        t->ti_uses = limit_of(pvmc_buf_get_u32(b));
        t->ti_seconds = limit_of(pvmc_buf_get_u32(b));
        if (!t->ti_id)
            return pvmc_buf_error(b) ? pvmc_buf_error(b) : PVMC_ENOMEM;
        l->count++;
    }
    return pvmc_buf_error(b);
}

/* ---- memory of a thread ---- */

static void free_shown(void)
{
    free_made(&shown_made);
    free_list(&shown_list);
}

__attribute__((destructor)) static void free_at_exit(void)
{
    free_shown();
}

/* ---- the calls ---- */

static int make(int uses, int seconds, char **token, char **address)
{
    struct made m = {0};
    struct pvmc_buf body;
    if (uses < 0 || uses > PVMC_TOKEN_USES_MAX || seconds < 0 || seconds > PVMC_TOKEN_SECONDS_MAX || !token)
        return PVMC_EPARAM;
    begin(&body, PVMC_TOKEN_MAKE);
    pvmc_buf_put_u32(&body, (uint32_t)uses);
    pvmc_buf_put_u32(&body, (uint32_t)seconds);
    int rc = ask(&body, read_made, &m);
    if (rc) {
        free_made(&m);
        return rc;
    }
    free_made(&shown_made);
    shown_made = m;
    pvmi_lock_at_thread_end(free_shown);
    *token = m.token;
    if (address)
        *address = m.address;
    return 0;
}

int pvm_newtoken(int uses, int seconds, char **token, char **address)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_newtoken", make(uses, seconds, token, address));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

static int list(int *ntoken, struct pvmtokeninfo **tokens)
{
    struct list l = {0};
    struct pvmc_buf body;
    begin(&body, PVMC_TOKEN_LIST);
    int rc = ask(&body, read_list, &l);
    if (rc) {
        free_list(&l);
        return rc;
    }
    free_list(&shown_list);
    shown_list = l;
    pvmi_lock_at_thread_end(free_shown);
    if (ntoken)
        *ntoken = l.count;
    if (tokens)
        *tokens = l.tokens;
    return 0;
}

int pvm_tokens(int *ntoken, struct pvmtokeninfo **tokens)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_tokens", list(ntoken, tokens));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

static int take_back(const char *id)
{
    struct pvmc_buf body;
    uint8_t bytes[PVMC_TOKEN_ID_BYTES];
    if (!id || pvmc_token_parse_id(id, bytes))
        return PVMC_EPARAM;
    begin(&body, PVMC_TOKEN_REVOKE);
    pvmc_buf_put_string(&body, id);
    int rc = pvmi_task_need();
    if (rc)
        pvmc_buf_free(&body);
    return rc ? rc : pvmi_request((int)PVMC_TM_TOKEN, &body, NULL);
}

int pvm_revoke(const char *id)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_revoke", take_back(id));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
