/* route.c - the calls of fore_atm.h for the daemons' route of PVM. */
#include <errno.h>
#include "core/buf.h"
#include "channel.h"

#define END_BYTES 8 /* of a struct atm_sim_end on the wire */

int atm_sim_task(unsigned int task)
{
    struct pvma_fore_message tell = {.type = PVMA_FORE_TASK, .number = task};
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, pvma_fore_tell(&tell));
}

/* Between enter and leave. Returns 0 or an errno. */
static int carry(const struct atm_sim_end *to, unsigned int count, uint64_t bytes)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_CARRY, .given = bytes};
    struct pvmc_buf list;
    pvmc_buf_init(&list);
    for (unsigned i = 0; i < count; i++) {
        pvmc_buf_put_u32(&list, to[i].task);
        pvmc_buf_put_u32(&list, to[i].number);
    }
    ask.data = list.data;
    ask.length = (uint32_t)list.length;
    int error = pvmc_buf_error(&list) ? ENOMEM : pvma_fore_ask(&ask, &reply, NULL);
    pvmc_buf_free(&list);
    return error;
}

int atm_sim_carry(const struct atm_sim_end *to, unsigned int count, uint64_t bytes)
{
    if (!count || count > ATM_SIM_ENDS_MAX)
        return pvma_fore_fail(EINVAL);
    if (pvma_fore_enter_free())
        return -1;
    return pvma_fore_leave(0, carry(to, count, bytes));
}

int atm_sim_under_way(unsigned int first, struct atm_sim_end *list, unsigned int max, int *handing)
{
    struct pvma_fore_message reply, ask = {.type = PVMA_FORE_UNDER_WAY, .number = first};
    struct pvmc_buf b;
    unsigned count = 0;
    if (pvma_fore_enter_free())
        return -1;
    int error = pvma_fore_ask(&ask, &reply, NULL);
    if (error)
        return pvma_fore_leave(0, error);
    pvmc_buf_view(&b, reply.data, reply.length);
    *handing = (int)pvmc_buf_get_u32(&b);
    for (; count < max && pvmc_buf_left(&b) >= END_BYTES; count++) {
        list[count].task = pvmc_buf_get_u32(&b);
        list[count].number = pvmc_buf_get_u32(&b);
    }
    return pvma_fore_leave((int)count, pvmc_buf_error(&b) ? EPROTO : 0);
}
