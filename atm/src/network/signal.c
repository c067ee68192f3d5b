/* signal.c - signalling messages to octets and back. */
#include "signal.h"
#include <string.h>
#include "core/buf.h"
#include "core/error.h"

#define BPS_MAX ((uint64_t)1000000000000)

const char *pvma_signal_name(enum pvma_signal_type type)
{
    static const char *const names[] = {"?", "SETUP", "CONNECT", "RELEASE", "ADD_PARTY"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "?";
}

/* ---- writing ---- */

void pvma_signal_put_address(struct pvmc_buf *b, struct pvma_address address)
{
    pvmc_buf_put_u32(b, address.switch_id);
    pvmc_buf_put_u32(b, address.port);
}

static void put_bandwidth(struct pvmc_buf *b, const struct pvma_bandwidth *bandwidth)
{
    pvmc_buf_put_u64(b, (uint64_t)bandwidth->peak_bps);
    pvmc_buf_put_u64(b, (uint64_t)bandwidth->mean_bps);
    pvmc_buf_put_u32(b, (uint32_t)bandwidth->burst_cells);
}

void pvma_signal_put_contract(struct pvmc_buf *b, const struct pvma_contract *contract)
{
    pvmc_buf_put_u8(b, (uint8_t)contract->aal);
    pvmc_buf_put_u8(b, (uint8_t)contract->flow);
    pvmc_buf_put_u8(b, (uint8_t)contract->service);
    pvmc_buf_put_u8(b, (uint8_t)(contract->paced | contract->protocol << 1));
    put_bandwidth(b, &contract->wanted);
    put_bandwidth(b, &contract->minimum);
    put_bandwidth(b, &contract->back_wanted);
    put_bandwidth(b, &contract->back_minimum);
}

static void put_body(struct pvmc_buf *b, const struct pvma_signal *signal)
{
    switch (signal->type) {
    case PVMA_SETUP:
        pvmc_buf_put_u32(b, signal->asap);
        pvmc_buf_put_u16(b, signal->vpi);
        pvmc_buf_put_u16(b, signal->vci);
        pvmc_buf_put_u16(b, signal->back_vpi);
        pvmc_buf_put_u16(b, signal->back_vci);
        pvma_signal_put_contract(b, &signal->contract);
        break;
    case PVMA_CONNECT:
        pvma_signal_put_contract(b, &signal->contract);
        break;
    case PVMA_RELEASE:
        pvmc_buf_put_u8(b, signal->cause);
        break;
    case PVMA_ADD_PARTY:
        pvmc_buf_put_u32(b, signal->asap);
        break;
    }
}

size_t pvma_signal_encode(const struct pvma_signal *signal, uint8_t wire[PVMA_SIGNAL_MAX])
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u8(&b, PVMA_SIGNAL_VERSION);
    pvmc_buf_put_u8(&b, (uint8_t)signal->type);
    pvmc_buf_put_u32(&b, signal->call);
    pvmc_buf_put_u16(&b, signal->party);
    pvma_signal_put_address(&b, signal->caller);
    pvma_signal_put_address(&b, signal->called);
    put_body(&b, signal);
    size_t length = b.length; /* the longest, SETUP, has 120 octets */
    if (length && !pvmc_buf_error(&b))
        memcpy(wire, b.data, length);
    pvmc_buf_free(&b);
    return length;
}

/* ---- reading ---- */

struct pvma_address pvma_signal_get_address(struct pvmc_buf *b)
{
    uint32_t switch_id = pvmc_buf_get_u32(b);
    return (struct pvma_address){switch_id, pvmc_buf_get_u32(b)};
}

static bool get_bandwidth(struct pvmc_buf *b, struct pvma_bandwidth *bandwidth)
{
    uint64_t peak = pvmc_buf_get_u64(b), mean = pvmc_buf_get_u64(b);
    uint32_t burst = pvmc_buf_get_u32(b);
    *bandwidth = (struct pvma_bandwidth){(int64_t)peak, (int64_t)mean, (int32_t)burst};
    return peak <= BPS_MAX && mean <= BPS_MAX && burst <= INT32_MAX;
}

bool pvma_signal_get_contract(struct pvmc_buf *b, struct pvma_contract *contract)
{
    struct pvma_bandwidth *const bandwidths[] = {&contract->wanted, &contract->minimum, &contract->back_wanted,
                                                 &contract->back_minimum};
    uint8_t aal = pvmc_buf_get_u8(b), flow = pvmc_buf_get_u8(b), service = pvmc_buf_get_u8(b);
    uint8_t paced_protocol = pvmc_buf_get_u8(b);
    bool good = true;
    contract->aal = (enum pvma_aal)aal;
    contract->flow = (enum pvma_flow)flow;
    contract->service = (enum pvma_service)service;
    contract->paced = paced_protocol & 1;
    contract->protocol = paced_protocol >> 1;
    for (size_t i = 0; i < sizeof bandwidths / sizeof bandwidths[0]; i++)
        good = get_bandwidth(b, bandwidths[i]) && good;
    return good && (aal == PVMA_AAL_RAW || aal == PVMA_AAL34 || aal == PVMA_AAL5) && flow <= PVMA_MULTICAST &&
           service < PVMA_SERVICES && (service != PVMA_ABR || flow == PVMA_DUPLEX);
}

/* Reads the part that depends on the type; false for a value that no message has. */
static bool get_body(struct pvmc_buf *b, struct pvma_signal *signal)
{
    switch (signal->type) {
    case PVMA_SETUP:
        signal->asap = pvmc_buf_get_u32(b);
        signal->vpi = pvmc_buf_get_u16(b);
        signal->vci = pvmc_buf_get_u16(b);
        signal->back_vpi = pvmc_buf_get_u16(b);
        signal->back_vci = pvmc_buf_get_u16(b);
        return pvma_signal_get_contract(b, &signal->contract) && signal->vpi <= PVMA_VPI_MAX &&
               signal->back_vpi <= PVMA_VPI_MAX;
    case PVMA_CONNECT:
        return pvma_signal_get_contract(b, &signal->contract);
    case PVMA_RELEASE:
        signal->cause = pvmc_buf_get_u8(b);
        return true;
    case PVMA_ADD_PARTY:
        signal->asap = pvmc_buf_get_u32(b);
        return true;
    }
    return false;
}

int pvma_signal_decode(struct pvma_signal *signal, const uint8_t *wire, size_t length)
{
    struct pvmc_buf b;
    memset(signal, 0, sizeof *signal);
    pvmc_buf_view(&b, wire, length);
    if (pvmc_buf_get_u8(&b) != PVMA_SIGNAL_VERSION)
        return length ? PVMC_EVERSION : PVMC_ESHORT;
    signal->type = (enum pvma_signal_type)pvmc_buf_get_u8(&b);
    signal->call = pvmc_buf_get_u32(&b);
    signal->party = pvmc_buf_get_u16(&b);
    signal->caller = pvma_signal_get_address(&b);
    signal->called = pvma_signal_get_address(&b);
    bool good = get_body(&b, signal);
    int error = pvmc_buf_end(&b);
    return error ? error : good ? 0 : PVMC_EFORMAT;
}
