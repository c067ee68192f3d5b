/* test_pvmd_metrics.c - the two text formats of metrics: names of counters, quoting, sums of histograms. */
#include "pvmd/metrics/writer.h"
#include <stdlib.h>
#include "tests/unit/unit.h"

static char *page;
static size_t length;

static struct pvmd_metrics_writer begin(bool open_metrics)
{
    return (struct pvmd_metrics_writer){open_memstream(&page, &length), open_metrics};
}

static void check_end(const struct pvmd_metrics_writer *w, const char *expected)
{
    pvmd_metrics_end(w);
    fclose(w->to);
    ck_assert_str_eq(page, expected);
    free(page);
}

START_TEST(counters_end_in_total)
{
    struct pvmd_metrics_writer w = begin(true);
    pvmd_metrics_family(&w, "calls", PVMD_METRICS_COUNTER, "Calls.");
    pvmd_metrics_counter(&w, "calls", NULL, NULL, 123456789012345);
    check_end(&w, "# HELP calls Calls.\n# TYPE calls counter\ncalls_total 123456789012345\n# EOF\n");
    w = begin(false);
    pvmd_metrics_family(&w, "calls", PVMD_METRICS_COUNTER, "Calls.");
    pvmd_metrics_counter(&w, "calls", NULL, NULL, 0.5);
    check_end(&w, "# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total 0.5\n");
}
END_TEST

START_TEST(quotes_what_a_host_may_be_called)
{
    struct pvmd_metrics_writer w = begin(false);
    pvmd_metrics_gauge(&w, "up", "host", "a\"b\\c\nd} 1\n", 1);
    check_end(&w, "up{host=\"a\\\"b\\\\c\\nd} 1\\n\"} 1\n");
}
END_TEST

START_TEST(adds_up_a_histogram)
{
    static const double limits[] = {0.5, 2};
    static const uint64_t counts[] = {3, 0, 4};
    struct pvmd_metrics_writer w = begin(true);
    pvmd_metrics_distribution(&w, "t", &(struct pvmd_metrics_histogram){limits, counts, 2, 12.5});
    check_end(&w,
              "t_bucket{le=\"0.5\"} 3\nt_bucket{le=\"2\"} 3\nt_bucket{le=\"+Inf\"} 7\nt_sum 12.5\nt_count 7\n# EOF\n");
}
END_TEST

UNIT_MAIN("pvmd_metrics", counters_end_in_total, quotes_what_a_host_may_be_called, adds_up_a_histogram)
