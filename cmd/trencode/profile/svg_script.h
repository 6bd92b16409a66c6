/*
 * svg_script.h - the style and the script of a flame graph
 */
#ifndef TR_TRENCODE_PROFILE_SVG_SCRIPT_H
#define TR_TRENCODE_PROFILE_SVG_SCRIPT_H

/* The style, for light and dark screens. */
extern const char svg_style[];

/*
 * The script: a click or Enter zooms to a frame, / or Ctrl-F searches names by a regular
 * expression, Escape resets, Tab moves between frames. Without a script the graph is a picture
 * with tooltips.
 */
extern const char svg_script[];

#endif
