/* context.c - contexts: numbers that keep apart the messages of libraries that do not know each other. */
#include "core/error.h"
#include "core/message/proto.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

enum { CONTEXT_NEW = 1, CONTEXT_FREE = 2 };

/* The context allocated or freed, or an error. */
static int ask_for_context(int op, int ctx)
{
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    struct pvmc_buf body;
    struct pvmi_answer answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_u8(&body, (uint8_t)op);
    pvmc_buf_put_u32(&body, (uint32_t)ctx);
    rc = pvmi_request(PVMC_TM_CONTEXT, &body, &answer);
    int result = rc < 0 ? 0 : pvmc_buf_get_i32(&answer.body);
    int end = pvmi_answer_end(&answer);
    return rc < 0 ? rc : end ? end : result;
}

int pvm_newcontext(void)
{
    PVMI_BEGIN(TEV_NEWCONTEXT);
    int rc = pvmi_return("pvm_newcontext", ask_for_context(CONTEXT_NEW, 0));
    PVMI_END(TEV_NEWCONTEXT, PVMI_INT(CXN, rc));
    return rc;
}

int pvm_freecontext(int ctx)
{
    PVMI_BEGIN(TEV_FREECONTEXT, PVMI_INT(CXF, ctx));
    int freed = ask_for_context(CONTEXT_FREE, ctx), rc = pvmi_return("pvm_freecontext", freed < 0 ? freed : 0);
    PVMI_END(TEV_FREECONTEXT, PVMI_INT(CC, rc));
    return rc;
}

int pvm_getcontext(void)
{
    PVMI_BEGIN(TEV_GETCONTEXT);
    int rc = pvmmyctx;
    PVMI_END(TEV_GETCONTEXT, PVMI_INT(CXC, rc));
    return rc;
}

int pvm_setcontext(int ctx)
{
    PVMI_BEGIN(TEV_SETCONTEXT, PVMI_INT(CXS, ctx));
    int old = pvmmyctx;
    pvmmyctx = ctx;
    PVMI_END(TEV_SETCONTEXT, PVMI_INT(CC, old));
    return old;
}
