/* test_capture.c - captured files byte by byte, queues in time, statistics of flows. */
#include <stdlib.h>
#include <unistd.h>
#include "core/error.h"
#include "atm/src/capture/capture.h"
#include "atm/src/capture/gauges.h"
#include "atm/src/capture/series.h"
#include "atm/src/capture/traffic.h"
#include "lab.h"

static const char pair[] = "host a\nhost b\nlink a b rate=424M\npvc a b\n"; /* a cell takes 1 us */

/* A file of the test; the caller removes it. */
struct file {
    char path[64];
    uint8_t data[65536];
    size_t length;
};

static void file_name(struct file *f)
{
    strcpy(f->path, "/tmp/test-capture-XXXXXX");
    int fd = mkstemp(f->path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void file_read(struct file *f)
{
    FILE *in = fopen(f->path, "re");
    ck_assert_ptr_nonnull(in);
    f->length = fread(f->data, 1, sizeof f->data, in);
    fclose(in);
    unlink(f->path);
}

static uint64_t le(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static uint64_t be(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static void send_at(void *arg)
{
    static const uint8_t data[100] = {1, 2, 3};
    ck_assert_int_eq(pvma_vc_send(arg, data, 100, 0), 0);
}

/* A file of pcap begins with the magic number of nanoseconds, version 2.4, and the link type of ERF. */
static const uint8_t *check_header(const struct file *f)
{
    static const uint8_t header[24] = {0x4d, 0x3c, 0xb2, 0xa1, 2,   0,   4, 0, 0,   0, 0, 0,
                                       0,    0,    0,    0,    255, 255, 0, 0, 197, 0, 0, 0};
    ck_assert_uint_ge(f->length, sizeof header);
    ck_assert_mem_eq(f->data, header, sizeof header);
    return f->data + sizeof header;
}

static const uint8_t *check_record(const uint8_t *r, uint64_t ns, unsigned type, uint32_t header, size_t frame)
{
    ck_assert_uint_eq(le(r, 4) * 1000000000 + le(r + 4, 4), ns);
    ck_assert_uint_eq(le(r + 8, 4), 20 + frame);
    ck_assert_uint_eq(le(r + 12, 4), 20 + frame);
    uint64_t erf = le(r + 16, 8);
    ck_assert_uint_eq((erf >> 32) * 1000000000 + ((erf & UINT32_MAX) * 1000000000 >> 32), ns);
    ck_assert_uint_eq(r[24], type);
    ck_assert_uint_eq(be(r + 26, 2), 20 + frame);
    ck_assert_uint_eq(be(r + 32, 4), header);
    return r + 36;
}

/* 100 octets are three cells, which begin 1 us after each other; the last one is marked. */
START_TEST(cells_and_pdus)
{
    struct lab lab;
    struct file cells, pdus;
    struct pvma_capture *capture;
    file_name(&cells);
    file_name(&pdus);
    lab_open(&lab, pair, 1);
    struct pvma_capture_options options = {.cells = cells.path, .pdus = pdus.path};
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), 0);
    pvma_sim_call(lab.sim, 1500 * PVMA_MS, send_at, pvma_net_pvc_end(lab.net, 0, false));
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(pvma_capture_close(capture), 0);
    lab_close(&lab);
    file_read(&cells);
    file_read(&pdus);
    const uint8_t *at = check_header(&cells);
    for (unsigned i = 0; i < 3; i++) {
        at = check_record(at, 1500000000 + 1000 * i, 3, 32 << 4 | (i == 2) << 1, 48);
        ck_assert_uint_eq(at[0], i == 0);
        at += 48;
    }
    ck_assert_ptr_eq(at, cells.data + cells.length);
    at = check_record(check_header(&pdus), 1500002000, 4, 32 << 4 | 2, 144);
    ck_assert_uint_eq(at[2], 3);
    ck_assert_uint_eq(be(at + 144 - 6, 2), 100); /* the trailer's length */
    ck_assert_ptr_eq(at + 144, pdus.data + pdus.length);
}
END_TEST

/* A lost cell leaves a frame that is too short; the limit holds for each file. */
/* ABR: the cells of resource management are among the cells, here the first one, and in no PDU. */
START_TEST(resource_management)
{
    struct lab lab;
    struct file cells, pdus;
    struct pvma_capture *capture;
    file_name(&cells);
    file_name(&pdus);
    lab_open(&lab, "host a\nhost b\nlink a b rate=424M\npvc a b service=abr\n", 1);
    struct pvma_capture_options options = {.cells = cells.path, .pdus = pdus.path, .links = {"a>b"}, .link_count = 1};
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), 0);
    pvma_sim_call(lab.sim, 1500 * PVMA_MS, send_at, pvma_net_pvc_end(lab.net, 0, false));
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(pvma_capture_close(capture), 0);
    lab_close(&lab);
    file_read(&cells);
    file_read(&pdus);
    const uint8_t *at = check_record(check_header(&cells), 1500000000, 3, 32 << 4 | 6 << 1, 48);
    ck_assert_uint_eq(at[0], 1);                              /* ABR */
    ck_assert_uint_eq(at[1], 0);                              /* forward */
    ck_assert_uint_eq(be(at + 2, 2), 0x4000 | 19 << 9 | 465); /* 2^19 * (1 + 465/512) cells/s, at least 10^6 */
    at = check_record(check_header(&pdus), 1500003000, 4, 32 << 4 | 2, 144);
    ck_assert_uint_eq(be(at + 144 - 6, 2), 100);
    ck_assert_ptr_eq(at + 144, pdus.data + pdus.length);
}
END_TEST

START_TEST(damaged_pdus_and_limits)
{
    struct lab lab;
    struct file file;
    struct pvma_capture *capture;
    file_name(&file);
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s rate=424M loss=0.2\nlink s b rate=424M\npvc a b\n", 3);
    struct pvma_capture_options options = {.pdus = file.path, .links = {"s>b"}, .link_count = 1, .limit = 5};
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), 0);
    for (int i = 0; i < 40; i++)
        pvma_sim_call(lab.sim, i * PVMA_MS, send_at, pvma_net_pvc_end(lab.net, 0, false));
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(pvma_capture_close(capture), 0);
    lab_close(&lab);
    file_read(&file);
    const uint8_t *at = check_header(&file);
    unsigned records = 0, odd = 0;
    for (; at < file.data + file.length; at += 16 + le(at + 8, 4), records++)
        odd += le(at + 8, 4) != 20 + 144;
    ck_assert_uint_eq(records, 5);
    ck_assert_uint_gt(odd, 0);
}
END_TEST

START_TEST(captures_refuse)
{
    struct lab lab;
    struct pvma_capture *capture;
    lab_open(&lab, pair, 1);
    struct pvma_capture_options options = {.pdus = "/nowhere/file", .links = {"a>c"}, .link_count = 1};
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), PVMC_EPARAM);
    options.links[0] = "a>b";
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), PVMC_ESYSTEM);
    options.pdus = NULL;
    ck_assert_int_eq(pvma_capture_open(lab.net, &options, &capture), 0);
    ck_assert_ptr_null(capture);
    lab_close(&lab);
}
END_TEST

/* The four cells of a PDU reach a link that takes 4 us for each. */
START_TEST(queues_in_time)
{
    struct lab lab;
    struct pvma_gauges gauges;
    lab_open(&lab, "host a\nhost b\nswitch s\nlink a s rate=424M\nlink s b rate=106M\npvc a b\n", 1);
    pvma_gauges_open(&gauges, lab.net);
    struct pvma_gauge *out = pvma_gauges_find(&gauges, "s>b", false);
    ck_assert_ptr_nonnull(out);
    ck_assert_ptr_null(pvma_gauges_find(&gauges, "s>c", false));
    struct pvma_reading before = pvma_gauge_read(out);
    static const uint8_t data[184];
    ck_assert_int_eq(pvma_vc_send(pvma_net_pvc_end(lab.net, 0, false), data, sizeof data, 0), 0);
    pvma_sim_run_until(lab.sim, 20 * PVMA_US);
    struct pvma_reading after = pvma_gauge_read(out);
    /* Cells arrive at 1, 2, 3, 4 us and leave the queue at 1, 5, 9, 13 us: they wait 0, 3, 6, 9 us. */
    ck_assert_uint_eq(after.area, 18 * PVMA_US);
    ck_assert_uint_eq(after.most, 3);
    ck_assert_double_eq_tol(pvma_gauge_mean(&before, &after, 20 * PVMA_US), 0.9, 1e-12);
    ck_assert_double_eq_tol(pvma_gauge_utilisation(out, &before, &after, 20 * PVMA_US), 0.8, 1e-12);
    pvma_gauges_close(&gauges);
    lab_close(&lab);
}
END_TEST

/* The longest queues before and behind a crossbar with two senders to one receiver; all cells leave in the end. */
static void longest_of_crossbar(const char *option, uint32_t *in, uint32_t *out)
{
    static const uint8_t data[4000];
    struct lab lab;
    struct pvma_gauges gauges;
    char text[256];
    snprintf(text, sizeof text, "host h[1-3]\nswitch s model=an2 %s\nlink h[1-3] s\npvc h1 h3\npvc h2 h3\n", option);
    lab_open(&lab, text, 1);
    pvma_gauges_open(&gauges, lab.net);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pvma_vc_send(pvma_net_pvc_end(lab.net, i, false), data, sizeof data, 0), 0);
    pvma_sim_run(lab.sim);
    struct pvma_gauge *behind = pvma_gauges_find(&gauges, "h1>s", true);
    struct pvma_gauge *before = pvma_gauges_find(&gauges, "s>h3", false);
    struct pvma_reading reading = pvma_gauge_read(behind);
    ck_assert_uint_eq(reading.cells, pvma_aal_cells(PVMA_AAL5, sizeof data));
    ck_assert_uint_eq(behind->meter.length, 0);
    ck_assert_uint_eq(before->meter.length, 0);
    *in = reading.most;
    *out = pvma_gauge_read(before).most;
    pvma_gauges_close(&gauges);
    lab_close(&lab);
}

/* Cells wait at the inputs, or with a fast fabric at the output. */
START_TEST(queues_of_crossbars)
{
    uint32_t in, out;
    longest_of_crossbar("", &in, &out);
    ck_assert_uint_gt(in, 10);
    ck_assert_uint_le(out, 1);
    longest_of_crossbar("speedup=4", &in, &out);
    ck_assert_uint_le(in, 2);
    ck_assert_uint_gt(out, 20);
}
END_TEST

/* Observers do not change a run. */
START_TEST(observers_change_nothing)
{
    const char *text =
        "host h[1-3] profile=hp735\nswitch s buffer=50\nlink h[1-3] s loss=0.001\npvc h1 h3\npvc h2 h3\n";
    uint64_t digests[2];
    for (int observed = 0; observed < 2; observed++) {
        struct lab lab;
        struct pvma_traffic *flows[2];
        lab_open(&lab, text, 1);
        FILE *out = fopen("/dev/null", "we");
        struct pvma_series *series = observed ? pvma_series_new(lab.net, out) : NULL;
        for (size_t i = 0; i < 2; i++)
            flows[i] = pvma_traffic_new(
                lab.net, i,
                &(struct pvma_traffic_options){.kind = PVMA_LOAD_GREEDY, .bytes = 2000, .record = observed});
        for (int step = 1; step <= 10; step++) {
            pvma_sim_run_until(lab.sim, step * PVMA_MS);
            if (series)
                pvma_series_step(series);
        }
        digests[observed] = pvma_sim_digest(lab.sim);
        if (series)
            pvma_series_free(series);
        for (size_t i = 0; i < 2; i++)
            pvma_traffic_free(flows[i]);
        fclose(out);
        lab_close(&lab);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
}
END_TEST

/* Losses are known by the numbers of PDUs; their latency without any cost is four cells' time. */
START_TEST(flows)
{
    struct lab lab;
    struct pvma_traffic_options options = {
        .kind = PVMA_LOAD_CBR, .bytes = 184, .interval = PVMA_MS, .count = 1000, .record = true};
    lab_open(&lab, "host a\nhost b\nlink a b rate=424M loss=0.05\npvc a b\n", 1);
    struct pvma_traffic *flow = pvma_traffic_new(lab.net, 0, &options);
    pvma_sim_run_until(lab.sim, 2 * PVMA_S);
    struct pvma_traffic_counts c = pvma_traffic_count(flow);
    struct pvma_latency l = pvma_traffic_latency(&flow, 1, 0);
    ck_assert_str_eq(pvma_traffic_name(flow), "a>b");
    ck_assert_uint_eq(c.sent, 1000);
    ck_assert_uint_gt(c.lost, 120); /* 18.5 % */
    ck_assert_uint_lt(c.lost, 250);
    ck_assert_uint_le(c.received + c.lost, 1000);
    ck_assert_uint_eq(l.pdus, c.received);
    ck_assert_uint_eq(l.bytes, 184 * c.received);
    ck_assert_double_eq_tol(l.mean_us, 4, 1e-9);
    ck_assert_double_eq_tol(l.p99_us, 4, 1e-9);
    ck_assert_double_eq_tol(l.jitter_us, 0, 1e-9);
    l = pvma_traffic_latency(&flow, 1, PVMA_S);
    ck_assert_uint_lt(l.pdus, 5);
    pvma_traffic_free(flow);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("atm_capture", cells_and_pdus, resource_management, damaged_pdus_and_limits, captures_refuse, queues_in_time,
          queues_of_crossbars, observers_change_nothing, flows)
