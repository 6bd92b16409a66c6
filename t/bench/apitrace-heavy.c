/* heavy: many GL calls a frame of a typical mix, two threads; args: frames, objects a frame. */
#define GL_GLEXT_PROTOTYPES
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static EGLDisplay d;
static EGLConfig cfg;
static EGLContext root;
static int frames, objs;
static const char *vs = "#version 120\nattribute vec4 pos;\nuniform mat4 mvp;\nvoid main() { "
			"gl_Position = mvp * pos; }\n";
static const char *fs = "#version 120\nuniform vec4 tint;\nvoid main() { gl_FragColor = tint; }\n";
static unsigned rng = 12345;
static float rf(void)
{
	rng = rng * 1664525u + 1013904223u;
	return (float)(rng >> 8) / 16777216.0f * 2 - 1;
}
static void *upload(void *a)
{
	eglBindAPI(EGL_OPENGL_API);
	EGLContext ctx = eglCreateContext(d, cfg, root, NULL);
	const EGLint pa[] = {EGL_WIDTH, 4, EGL_HEIGHT, 4, EGL_NONE};
	EGLSurface s = eglCreatePbufferSurface(d, cfg, pa);
	eglMakeCurrent(d, s, s, ctx);
	static unsigned char img[32 * 32 * 4];
	unsigned r = 7;
	GLuint t;
	glGenTextures(1, &t);
	for (int f = 0; f < frames * 4; f++) {
		for (unsigned i = 0; i < sizeof img; i++) {
			r = r * 1103515245u + 12345u;
			img[i] = (i & 64) ? r >> 16 : i;
		}
		glBindTexture(GL_TEXTURE_2D, t);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, img);
		glFlush();
	}
	eglMakeCurrent(d, 0, 0, 0);
	return 0;
}
int main(int argc, char **argv)
{
	frames = argc > 1 ? atoi(argv[1]) : 10;
	objs = argc > 2 ? atoi(argv[2]) : 100;
	d = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	eglInitialize(d, 0, 0);
	eglBindAPI(EGL_OPENGL_API);
	const EGLint ca[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
			     EGL_NONE};
	EGLint c;
	eglChooseConfig(d, ca, &cfg, 1, &c);
	root = eglCreateContext(d, cfg, 0, NULL);
	const EGLint pa[] = {EGL_WIDTH, 8, EGL_HEIGHT, 8, EGL_NONE};
	EGLSurface s = eglCreatePbufferSurface(d, cfg, pa);
	eglMakeCurrent(d, s, s, root);
	pthread_t th;
	pthread_create(&th, 0, upload, 0);
	GLuint v = glCreateShader(GL_VERTEX_SHADER), f = glCreateShader(GL_FRAGMENT_SHADER),
	       p = glCreateProgram();
	glShaderSource(v, 1, &vs, NULL);
	glCompileShader(v);
	glShaderSource(f, 1, &fs, NULL);
	glCompileShader(f);
	glAttachShader(p, v);
	glAttachShader(p, f);
	glBindAttribLocation(p, 0, "pos");
	glLinkProgram(p);
	glUseProgram(p);
	GLint um = glGetUniformLocation(p, "mvp"), ut = glGetUniformLocation(p, "tint");
	float tri[] = {-1, -1, 0, 1, 1, -1, 0, 1, 0, 1, 0, 1};
	GLuint b[2];
	glGenBuffers(2, b);
	glBindBuffer(GL_ARRAY_BUFFER, b[0]);
	glBufferData(GL_ARRAY_BUFFER, sizeof tri, tri, GL_DYNAMIC_DRAW);
	glEnable(GL_RASTERIZER_DISCARD);
	for (int fr = 0; fr < frames; fr++) {
		glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
		for (int o = 0; o < objs; o++) {
			float m[16];
			for (int i = 0; i < 16; i++)
				m[i] = (i % 5 == 0) ? 1.0f : (i > 11 ? rf() : 0.0f);
			glUniformMatrix4fv(um, 1, GL_FALSE, m);
			glUniform4f(ut, rf(), rf(), 0.5f, 1);
			if (o % 8 == 0) {
				glUseProgram(p);
				glBindBuffer(GL_ARRAY_BUFFER, b[0]);
				glEnableVertexAttribArray(0);
				glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 16, 0);
			}
			if (o % 16 == 0) {
				glEnable(GL_BLEND);
				glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
				glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof tri, tri);
			}
			glDrawArrays(GL_TRIANGLES, 0, 3);
			if (o % 4 == 0)
				glGetError();
		}
		glDisable(GL_BLEND);
		eglSwapBuffers(d, s);
	}
	pthread_join(th, 0);
	return 0;
}
