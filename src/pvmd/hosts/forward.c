/* forward.c - see forward.h. */
#include "forward.h"
#include <stdlib.h>
#include "core/error.h"
#include "pvmd/quorum/petition.h"

static void answered(void *arg, unsigned host_index, int code, struct pvmc_buf *body)
{
    struct pvmd_request *r = arg;
    struct pvmc_buf rest;
    size_t length = pvmc_buf_left(body);
    (void)host_index;
    pvmc_buf_view(&rest, pvmc_buf_get_bytes(body, length), length);
    rest.length = length;
    pvmd_request_answer(r, code, &rest);
    free(r);
}

static int forward(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *head,
                   const struct pvmc_buf *body)
{
    struct pvmd_request *copy = malloc(sizeof *copy);
    if (!copy)
        return PVMC_ENOMEM;
    *copy = *r;
    pvmd_ask_master_headed(what, head, body, answered, copy);
    return 0;
}

int pvmd_forward(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *body)
{
    return forward(r, what, NULL, body);
}

int pvmd_forward_named(const struct pvmd_request *r, enum pvmd_dm what, const struct pvmc_buf *body)
{
    struct pvmc_buf head;
    pvmc_buf_init(&head);
    pvmc_buf_put_u32(&head, r->tid);
    int rc = pvmc_buf_error(&head) ? pvmc_buf_error(&head) : forward(r, what, &head, body);
    pvmc_buf_free(&head);
    return rc;
}
