/*
 * palette.c - colours that colour-blind people can distinguish (after Okabe and Ito). Work is strong, waiting is pale:
 * it is what most of a picture consists of.
 */
#include "palette.h"

const unsigned palette_calls[CATEGORY_COUNT] = {
    [CATEGORY_COMPUTE] = 0x009e73, [CATEGORY_PACK] = 0xe69f00,  [CATEGORY_SEND] = 0x0072b2,
    [CATEGORY_RECEIVE] = 0xdfe3e6, [CATEGORY_GROUP] = 0xcc79a7, [CATEGORY_OTHER] = 0x7f8c96,
};

static unsigned mix(unsigned from, unsigned to, double share)
{
    unsigned color = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = from >> shift & 255, b = to >> shift & 255;
        color |= (unsigned)(a + (b - a) * share + 0.5) << shift;
    }
    return color;
}

unsigned palette_heat(double value)
{
    static const unsigned stops[] = {0xf7fbff, 0xc6dbef, 0x6baed6, 0x2171b5, 0x08306b};
    double at = value <= 0 ? 0 : value >= 1 ? 3.999999 : value * 4;
    return mix(stops[(int)at], stops[(int)at + 1], at - (int)at);
}
