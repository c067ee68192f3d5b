/* client.h - the side that measures: asks the server for its part of an exercise, and does the other one. */
#ifndef CLIENT_H
#define CLIENT_H

#include "exercise.h"

struct client {
    int fd; /* of the endpoint by which it talks with the server */
    struct wire wire;
    uint16_t server_nid;
    bool spin;
    int patience_s;
    uint32_t orders; /* given; the last one's id */
};

/* 0, or -1 with errno as of dp_open(). interface NULL: libdp's choice. */
int client_open(struct client *client, const char *interface, uint16_t server_nid);
void client_close(struct client *client);

/* Opens our end, and has the server open its own; order->place and spin are filled in here. 0, or -1: errno. */
int client_begin(struct client *client, struct order *order, struct end *end);

/* Closes our end. With rc 0 (the exercise is done) waits for the server's figure, else keeps errno and is -1. */
int client_end(struct client *client, struct end *end, int rc, double *figure_us);

#endif
