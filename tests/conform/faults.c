/* faults.c - connections that end by themselves: everything before the end is correct, and each side is told once. */
#include <stdio.h>
#include <stdlib.h>
#include "transports/fault/fault.h"
#include "core/config.h"
#include "side.h"
#include "suites.h"

enum { ROUNDS = 60, FRAMES = 150, OFTEN = PVMC_FAULT_CERTAIN / 1000 };

static struct pvmc_fault_plan plan;

static void read_plan(void)
{
    char why[256];
    ck_assert_int_eq(pvmc_fault_plan_read(&plan, pvmc_config_text(PVMC_SETTING_FAULT), why, sizeof why), 0);
}

/* Whether server and client connected. A failure is due to the plan, or to faults of the device. */
static bool try_to_meet(void)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(server.transport, &server, blob, &fd, &server.ep);
    if (length < 0)
        return false;
    int answer = ops->join(client.transport, blob, (size_t)length, fd, &client, reply, &client.ep);
    if (answer < 0) {
        client.ep = NULL;
        return false;
    }
    if (answer && ops->joined && ops->joined(server.ep, reply, (size_t)answer))
        return false;
    DRIVE_UNTIL(server.ready || server.down);
    return server.ready;
}

static void start_over(struct side *s)
{
    side_disconnect(s);
    side_release(s, 0);
    DRIVE_UNTIL(side_inplace(s) == 0);
    s->done = s->ready = s->down = s->whole = 0;
    s->next_seq = 0;
}

/* Both sides send until everything has arrived or the connection has ended; returns whether it has ended. */
static bool exchange_until_down(void)
{
    uint32_t sent[2] = {0, 0};
    struct side *sides[2] = {&server, &client};
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    while (server.down + client.down == 0 && (server.done < FRAMES || client.done < FRAMES)) {
        for (int i = 0; i < 2; i++)
            if (sent[i] < FRAMES && side_send_mixed(sides[i], sent[i]) == 0)
                sent[i]++;
        ck_assert_msg(drive(end_us), "stuck: %u and %u sent, %d and %d came", sent[0], sent[1], client.done,
                      server.done);
    }
    if (server.down + client.down == 0)
        return false;
    DRIVE_UNTIL(server.down == 1 && client.down == 1); /* both are told */
    drive_idly();
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(side_send(sides[i], 0, 100, 1, PAYLOAD_OWN), PVMC_EDOWN);
    return true;
}

START_TEST(ends_are_clean)
{
    int ended = 0, not_joined = 0;
    if (plan.drop || plan.cut)
        ck_assert(!side_attributes(&client).lossless);
    for (int round = 0; round < ROUNDS; round++) {
        if (try_to_meet())
            ended += exchange_until_down();
        else {
            ck_assert_uint_gt(plan.nojoin, 0);
            not_joined++;
            drive_idly(); /* a later attempt may succeed */
        }
        ASSERT_RIGHT(server);
        ASSERT_RIGHT(client);
        start_over(&server);
        start_over(&client);
    }
    if (plan.drop + plan.cut >= OFTEN)
        ck_assert_msg(ended > ROUNDS / 10, "only %d of %d connections were ended", ended, ROUNDS);
    ck_assert_int_gt(ended + not_joined, 0);
    if (plan.nojoin >= OFTEN)
        ck_assert_int_gt(not_joined, 0);
}
END_TEST

TCase *faults_case(void)
{
    TCase *tc = tcase_create("faults");
    tcase_add_checked_fixture(tc, read_plan, NULL);
    tcase_add_loop_test(tc, ends_are_clean, 0, 2);
    return tc;
}
