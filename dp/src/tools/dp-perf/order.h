/*
 * order.h - the client's orders to the server, and the answers. Both are messages of a reliable endpoint and are
 * decoded with the checked buffer, because an order may come from any node on the network.
 */
#ifndef ORDER_H
#define ORDER_H

#include <dp.h>
#include "tools/dp-perf/carriers/carrier.h"

enum { SERVER_DPID = 39999, COUNT_MAX = 10000000, TURNS_MAX = 1000000 };

/* What the server does, `turns` times, once both ends are connected. */
enum exercise {
    EXERCISE_ECHO = 1, /* takes a message and sends it back */
    EXERCISE_SINK,     /* takes `count` messages and sends one of 4 bytes */
    EXERCISE_SOURCE,   /* takes one of 4 bytes and sends `count` messages */
    EXERCISE_EXCHANGE, /* after a barrier, sends `count` messages and takes as many, at once */
    EXERCISE_COMPUTE,  /* sends 4 bytes, computes while `count` messages come and takes them, sends 4 bytes */
};

struct order {
    enum exercise exercise;
    uint8_t carrier; /* index into carriers */
    bool spin;
    uint32_t id; /* of this order, repeated in its answers */
    uint32_t bytes, count, turns;
    struct place place; /* of the client's end */
};

/* The first answer has the address of the server's end; the second one, after the exercise, has the figure. */
struct answer {
    uint32_t id;
    int32_t error; /* 0, or an errno if it failed */
    struct place place;
    double figure_us; /* SINK: from first to last message; EXCHANGE: a turn; COMPUTE: time lost to the messages */
};

/* Messages on the endpoint `fd`. Return 0, or -1 with errno; EPROTO: not an order, or not an answer. */
int order_send(int fd, const struct order *order);
int order_parse(const void *message, size_t bytes, struct order *order);
int answer_send(int fd, const struct answer *answer);
int answer_parse(const void *message, size_t bytes, struct answer *answer);

#endif
