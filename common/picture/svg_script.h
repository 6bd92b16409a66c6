/*
 * svg_script.h - the style and the script of a picture
 */
#ifndef TR_PICTURE_SVG_SCRIPT_H
#define TR_PICTURE_SVG_SCRIPT_H

/* The style, for light and dark screens. */
extern const char svg_style[];

/*
 * The script: a click or Enter zooms to a frame, / or Ctrl-F searches names by a regular
 * expression, Escape resets, Tab moves between frames. Without a script the picture has
 * tooltips only.
 *
 * In a picture of class "chart" the frames of a lane are in a group, x is a time, and the axis of
 * svg_put_axis is drawn again for the time that is shown. data-span and data-unit of the root are
 * the time of the whole width and its unit; the script writes "ns" in larger units.
 */
extern const char svg_script[];

#endif
