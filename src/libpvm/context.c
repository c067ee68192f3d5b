/* context.c - contexts: numbers that keep apart the messages of libraries that do not know each other. */
#include "../core/error.h"
#include "../core/proto.h"
#include "compat.h"
#include "perror.h"
#include "request.h"
#include "task.h"

enum { CONTEXT_NEW = 1, CONTEXT_FREE = 2 };

int pvmmyctx;

/* The context allocated or freed, or an error. */
static int ask_for_context(int op, int ctx)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmi_buf body;
    struct pvmi_answer answer;
    pvmi_buf_init(&body);
    pvmi_buf_put_u8(&body, (uint8_t)op);
    pvmi_buf_put_u32(&body, (uint32_t)ctx);
    rc = pvmi_request(PVMI_TM_CONTEXT, &body, &answer);
    int result = rc < 0 ? 0 : pvmi_buf_get_i32(&answer.body);
    int end = pvmi_answer_end(&answer);
    return rc < 0 ? rc : end ? end : result;
}

int pvm_newcontext(void)
{
    return pvmi_return("pvm_newcontext", ask_for_context(CONTEXT_NEW, 0));
}

int pvm_freecontext(int ctx)
{
    int rc = ask_for_context(CONTEXT_FREE, ctx);
    return pvmi_return("pvm_freecontext", rc < 0 ? rc : 0);
}

int pvm_getcontext(void)
{
    return pvmmyctx;
}

int pvm_setcontext(int ctx)
{
    int old = pvmmyctx;
    pvmmyctx = ctx;
    return old;
}
