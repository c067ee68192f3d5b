/* model.h - the paper's cost model: measured parameters and their predictions. */
#ifndef MODEL_H
#define MODEL_H

#include "client.h"
#include "options.h"

enum { PARAMETERS = 6, TRANSFERS_MAX = 16 };

enum parameter { O_S, O_R, U_R, LATENCY, G_S, G_R };

extern const char *const parameter_names[PARAMETERS];

/* The parameters for messages of one size. */
struct model_row {
    uint32_t bytes;
    double us[PARAMETERS];
    double trip_us; /* one way, the sum of O_s, O_r, U_r and L */
};

struct model_transfer {
    uint32_t packets;
    double bytes, measured_us;
    double predicted_us[2]; /* O_s + (k-1) g + L + O_r + U_r, and O_s + L + k (O_r + U_r) */
};

struct model {
    int carrier;
    uint32_t packet_bytes; /* b of the paper */
    struct model_row rows[SIZES_MAX];
    int row_count;
    double fit_us[PARAMETERS], fit_us_per_byte[PARAMETERS]; /* lines through the rows */
    struct model_transfer transfers[TRANSFERS_MAX];
    int transfer_count;
    double error[2]; /* mean absolute error of each form, relative to the measurement */
    double worst[2]; /* the largest relative error */
    bool overlaps;   /* O_s + O_r + U_r < g < L, under which the paper's first form holds */
};

/* Returns the exit status; failures are reported. */
int model_run(const struct options *o, struct client *client, struct model *model);

#endif
