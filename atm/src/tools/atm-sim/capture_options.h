/* capture_options.h - the options --pcap..., which run and serve have in common. */
#ifndef ATM_SIM_CAPTURE_OPTIONS_H
#define ATM_SIM_CAPTURE_OPTIONS_H

#include <argp.h>
#include "capture/capture.h"

/* For a command's parser, whose first child input is a struct pvma_capture_options. */
extern const struct argp_child capture_children[];

#endif
