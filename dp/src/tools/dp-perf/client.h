/* client.h - the measuring side: requests the server's part of an exercise, and does its own part. */
#ifndef CLIENT_H
#define CLIENT_H

#include "exercise.h"

struct client {
    int fd; /* endpoint for the messages with the server */
    struct wire wire;
    uint16_t server_nid;
    bool spin;
    int patience_s;
    uint32_t orders; /* number of orders so far, and the last one's id */
};

/* Returns 0, or -1 with errno as from dp_open(). interface NULL: libdp's choice. */
int client_open(struct client *client, const char *interface, uint16_t server_nid);
void client_close(struct client *client);

/* Opens this end and has the server open its own; fills in order->place and spin. Returns 0, or -1 with errno. */
int client_begin(struct client *client, struct order *order, struct end *end);

/* Closes this end. With rc 0 (the exercise is done), waits for the server's figure; else keeps errno and returns -1. */
int client_end(struct client *client, struct end *end, int rc, double *figure_us);

#endif
