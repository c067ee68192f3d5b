/*
 * profile_table.c - the built-in profiles. Each figure is marked with its origin: PAPER (printed there), FITTED
 * (computed from a paper's results under this model, see doc/atm.md), CHOSEN (ours). A cost that is not listed has its
 * default, which is CHOSEN.
 */
#include <string.h>
#include "profile.h"

struct setting {
    enum pvma_cost cost;
    int64_t value;
    enum pvma_origin origin;
};

#define PAPER(name, value)                                                                                             \
    {                                                                                                                  \
        PVMA_COST_##name, value, PVMA_PAPER                                                                            \
    }
#define FITTED(name, value)                                                                                            \
    {                                                                                                                  \
        PVMA_COST_##name, value, PVMA_FITTED                                                                           \
    }
#define CHOSEN(name, value)                                                                                            \
    {                                                                                                                  \
        PVMA_COST_##name, value, PVMA_CHOSEN                                                                           \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        PVMA_COST_COUNT, 0, PVMA_CHOSEN                                                                                \
    }

static const struct setting ideal[] = {CHOSEN(signal, 0), CHOSEN(tx_queue, 1024), CHOSEN(rx_queue, 1024),
                                       CHOSEN(mtu, 65535), END};

/* Thesis, Tables 5.5, 6.3 and B.3: controller 4 us and control/data 4.25 us per cell and crossing, vectoring 12.5 us.
 */
static const struct setting thesis_ch6[] = {PAPER(tx_cell, 8250 * PVMA_NS),
                                            PAPER(rx_cell, 8250 * PVMA_NS),
                                            PAPER(rx_pdu, 12500 * PVMA_NS),
                                            CHOSEN(mtu, 65535),
                                            CHOSEN(tx_queue, 1024),
                                            CHOSEN(rx_fifo, 100000),
                                            END};

/* As thesis_ch6, plus the bus of Table 5.3. */
static const struct setting thesis_ch5[] = {
    PAPER(tx_cell, 8250 * PVMA_NS), PAPER(rx_cell, 8250 * PVMA_NS), PAPER(tx_bus, 850 * PVMA_NS),
    PAPER(rx_bus, 850 * PVMA_NS),   PAPER(rx_pdu, 12500 * PVMA_NS), CHOSEN(mtu, 65535),
    CHOSEN(tx_queue, 1024),         CHOSEN(rx_fifo, 100000),        END};

/* As thesis_ch5, but what the sender takes of two crossings is fitted to Table 5.6's 337.686 us for 29 cells. */
static const struct setting thesis_ch5_frames[] = {
    FITTED(tx_cell, 9879602),     FITTED(rx_cell, 6620398),       PAPER(tx_bus, 850 * PVMA_NS),
    PAPER(rx_bus, 850 * PVMA_NS), PAPER(rx_pdu, 12500 * PVMA_NS), CHOSEN(mtu, 65535),
    CHOSEN(tx_queue, 1024),       CHOSEN(rx_fifo, 100000),        END};

/*
 * Thesis, Table 5.3: protocol 100 us per PDU and 50 us more for one that is sent again, interrupt 75 us per packet
 * received, bus 0.85 us per cell.
 */
static const struct setting thesis_host[] = {PAPER(tx_pdu, 100 * PVMA_US),    PAPER(tx_again, 50 * PVMA_US),
                                             PAPER(rx_pdu, 175 * PVMA_US),    PAPER(tx_bus, 850 * PVMA_NS),
                                             PAPER(rx_bus, 850 * PVMA_NS),    CHOSEN(mtu, 65535),
                                             CHOSEN(rx_fifo, 4096),           CHOSEN(pvmd_fragment, 200 * PVMA_US),
                                             CHOSEN(pvmd_byte, 20 * PVMA_NS), END};

/*
 * TUM report. Tables 5.1 and 5.2 give the costs of AAL5: 1 B those of a PDU, 256 B that of a buffer, 4 KB those of an
 * octet, and 4 KB with AAL3/4 that of cutting its cells. Test 4's streams divide a PDU's costs between the two hosts.
 * Octets are charged where a host is the slower: the HP sends as fast as it receives (test 8), so to its sender; the
 * IBM's sender is faster than the link (test 9), so to its receiver. The reproduction of the report uses these
 * profiles, too (papers/tum_hosts.c).
 *
 * The costs of PVM's daemons are fitted to test 14: 1 B in 1 ms (HP) and 2 ms (IBM), 128 KB at 2.5 and 1.9 MB/s. Those
 * of other profiles are chosen: the four-APIs paper says only that PVM advise is twice as fast as PVM normal, so a Sun
 * 4/690 needs twice the 2.766 ms of Table 1; SPARC 2 is 0.547 of that.
 */
static const struct setting hp[] = {FITTED(tx_pdu, 93300 * PVMA_NS),
                                    FITTED(tx_mbuf, 36660 * PVMA_NS),
                                    FITTED(tx_byte, 51700),
                                    FITTED(rx_pdu, 57130 * PVMA_NS),
                                    FITTED(tx_aal34, 5520 * PVMA_NS),
                                    FITTED(rx_aal34, 5520 * PVMA_NS),
                                    PAPER(mtu, 9188),
                                    PAPER(send, 0),
                                    FITTED(pvmd_fragment, 164300 * PVMA_NS),
                                    FITTED(pvmd_byte, 74 * PVMA_NS),
                                    END};
static const struct setting ibm[] = {FITTED(tx_pdu, 71200 * PVMA_NS),
                                     FITTED(tx_mbuf, 61300 * PVMA_NS),
                                     FITTED(rx_pdu, 194630 * PVMA_NS),
                                     FITTED(rx_byte, 25680),
                                     FITTED(tx_aal34, 8320 * PVMA_NS),
                                     FITTED(rx_aal34, 8320 * PVMA_NS),
                                     PAPER(mtu, 4092),
                                     PAPER(send, 1),
                                     FITTED(pvmd_fragment, 379950 * PVMA_NS),
                                     FITTED(pvmd_byte, 73 * PVMA_NS),
                                     END};

/* Four APIs, AAL5 table: t_0 gives the costs per PDU; r_max and n_1/2 give those per octet (SBA-100: per cell). */
static const struct setting sparc1_sba100[] = {FITTED(tx_pdu, 310 * PVMA_US),
                                               FITTED(rx_pdu, 310 * PVMA_US),
                                               FITTED(tx_cell, 47500 * PVMA_NS),
                                               FITTED(rx_cell, 47500 * PVMA_NS),
                                               PAPER(sar, 1),
                                               PAPER(mtu, 4092),
                                               CHOSEN(rx_fifo, 292),
                                               CHOSEN(pvmd_fragment, 1050 * PVMA_US),
                                               CHOSEN(pvmd_byte, 140 * PVMA_NS),
                                               END};
static const struct setting sparc1_sba200[] = {FITTED(tx_pdu, 361 * PVMA_US),
                                               FITTED(rx_pdu, 361 * PVMA_US),
                                               FITTED(tx_byte, 266 * PVMA_NS),
                                               FITTED(rx_byte, 266 * PVMA_NS),
                                               PAPER(mtu, 4092),
                                               CHOSEN(pvmd_fragment, 1050 * PVMA_US),
                                               CHOSEN(pvmd_byte, 140 * PVMA_NS),
                                               END};
static const struct setting sun4690_sba200[] = {FITTED(tx_pdu, 425 * PVMA_US),
                                                FITTED(rx_pdu, 425 * PVMA_US),
                                                FITTED(tx_byte, 46 * PVMA_NS),
                                                FITTED(rx_byte, 149 * PVMA_NS),
                                                PAPER(mtu, 4092),
                                                CHOSEN(pvmd_fragment, 1050 * PVMA_US),
                                                CHOSEN(pvmd_byte, 140 * PVMA_NS),
                                                END};
static const struct setting sparc2_sba200[] = {FITTED(tx_pdu, 230 * PVMA_US),
                                               FITTED(rx_pdu, 230 * PVMA_US),
                                               FITTED(tx_byte, 117 * PVMA_NS),
                                               FITTED(rx_byte, 117 * PVMA_NS),
                                               PAPER(mtu, 4092),
                                               CHOSEN(pvmd_fragment, 575 * PVMA_US),
                                               CHOSEN(pvmd_byte, 77 * PVMA_NS),
                                               END};

/* AN2 paper, table of the congestion simulation: SAR 200 ns per cell, 5 credits. Its 300 us are charged to TCP. */
static const struct setting alpha_otto[] = {CHOSEN(tx_pdu, 30 * PVMA_US),
                                            CHOSEN(rx_pdu, 30 * PVMA_US),
                                            PAPER(tx_cell, 200 * PVMA_NS),
                                            PAPER(rx_cell, 200 * PVMA_NS),
                                            CHOSEN(turn, 1),
                                            PAPER(mtu, 9188),
                                            CHOSEN(rx_fifo, 4096),
                                            CHOSEN(pvmd_fragment, 150 * PVMA_US),
                                            CHOSEN(pvmd_byte, 20 * PVMA_NS),
                                            END};
static const struct setting alpha_otto_credits[] = {CHOSEN(tx_pdu, 30 * PVMA_US),
                                                    CHOSEN(rx_pdu, 30 * PVMA_US),
                                                    PAPER(tx_cell, 200 * PVMA_NS),
                                                    PAPER(rx_cell, 200 * PVMA_NS),
                                                    CHOSEN(turn, 1),
                                                    PAPER(mtu, 9188),
                                                    CHOSEN(rx_fifo, 4096),
                                                    CHOSEN(credits, 64),
                                                    CHOSEN(pvmd_fragment, 150 * PVMA_US),
                                                    CHOSEN(pvmd_byte, 20 * PVMA_NS),
                                                    END};

static const struct {
    const char *name, *about;
    const struct setting *settings;
} table[] = {
    {"ideal", "no costs at all: the network alone", ideal},
    {"thesis-ch6", "UPC thesis, validation of chapter 6: 35.557 us for one cell", thesis_ch6},
    {"thesis-ch5", "UPC thesis, validation of chapter 5: 37.257 us for one cell", thesis_ch5},
    {"thesis-ch5-frames", "UPC thesis, validation of chapter 5, fitted to 29 cells: 337.686 us", thesis_ch5_frames},
    {"thesis-host", "UPC thesis, hosts of chapter 5 (Table 5.3)", thesis_host},
    {"hp735", "TUM report: HP 9000/735, ForeRunner EISA; atm_send waits", hp},
    {"ibm390", "TUM report: RS/6000-390, ForeRunner Microchannel; atm_send floods", ibm},
    {"sparc1-sba100", "four APIs: SPARC 1 with SBA-100, the host segments and reassembles", sparc1_sba100},
    {"sparc1-sba200", "four APIs: SPARC 1 with SBA-200", sparc1_sba200},
    {"sparc2-sba200", "four APIs: SPARC 2 with SBA-200", sparc2_sba200},
    {"sun4690-sba200", "four APIs: Sun 4/690 with SBA-200", sun4690_sba200},
    {"alpha-otto", "AN2 paper: Alpha with OTTO, cells of VCs take turns", alpha_otto},
    {"alpha-otto-credits", "AN2 paper: Alpha with OTTO, credits on the way in", alpha_otto_credits},
};

enum { PROFILES = sizeof table / sizeof table[0] };

static const int64_t defaults[PVMA_COST_COUNT] = {
#define X(name, unit, initial, help) initial,
    PVMA_COSTS(X)
#undef X
};

static struct pvma_profile built[PROFILES];

static void build(struct pvma_profile *profile, size_t index)
{
    static const struct pvma_profile none;
    *profile = none;
    profile->name = (char *)table[index].name;
    profile->about = (char *)table[index].about;
    memcpy(profile->cost, defaults, sizeof defaults);
    for (const struct setting *s = table[index].settings; s->cost != PVMA_COST_COUNT; s++) {
        profile->cost[s->cost] = s->value;
        profile->origin[s->cost] = s->origin;
    }
}

const struct pvma_profile *pvma_profile_at(size_t index)
{
    if (index >= PROFILES)
        return NULL;
    if (!built[index].name)
        build(&built[index], index);
    return &built[index];
}

const struct pvma_profile *pvma_profile_find(const char *name)
{
    for (size_t i = 0; i < PROFILES; i++)
        if (!strcmp(table[i].name, name))
            return pvma_profile_at(i);
    return NULL;
}
