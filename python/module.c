/*
 * module.c - trstream._trstream: the readers of libtrstream for Python, without numpy
 *
 *     reader = Reader("a.trs", 1, ["name", "self"], [], None, None)
 *     reader.next()     (rows, [(form, size, values, missing), ...]), None at the end, or Error
 *
 * values and missing are buffers in the memory of a batch, which is freed with the last of them.
 * The module uses the stable ABI of Python 3.11, the first with buffers.
 */
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/library/trstream.h"

struct module_state {
	PyObject *error; /* the class Error */
	PyTypeObject *reader, *buffer;
};

/* --- buffers --- */

/* A part of the memory of a batch. */
struct buffer_object {
	PyObject_HEAD PyObject *batch; /* a capsule */
	void *data;
	Py_ssize_t size;
};

static void buffer_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	Py_XDECREF(((struct buffer_object *)self)->batch);
	release(self);
	Py_DECREF(type);
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags)
{
	struct buffer_object *b = (struct buffer_object *)self;

	return PyBuffer_FillInfo(view, self, b->data, b->size, 1, flags);
}

static PyType_Slot buffer_slots[] = {
	{Py_tp_dealloc, buffer_dealloc}, {Py_bf_getbuffer, buffer_get}, {0, NULL}};

static PyType_Spec buffer_spec = {.name = "trstream._trstream.Buffer",
				  .basicsize = sizeof(struct buffer_object),
				  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
					   Py_TPFLAGS_IMMUTABLETYPE,
				  .slots = buffer_slots};

/* Make a buffer; None for no data. */
static PyObject *buffer_new(PyTypeObject *type, PyObject *batch, const void *data, size_t size)
{
	struct buffer_object *b;

	if (!data)
		Py_RETURN_NONE;
	b = PyObject_New(struct buffer_object, type);
	if (!b)
		return NULL;
	b->batch = Py_NewRef(batch);
	b->data = (void *)(uintptr_t)data;
	b->size = (Py_ssize_t)size;
	return (PyObject *)b;
}

/* --- batches --- */

static void batch_free(PyObject *capsule)
{
	trstream_batch_free(PyCapsule_GetPointer(capsule, NULL));
}

/* (form, size, values, missing) */
static PyObject *batch_column(PyTypeObject *buffer, PyObject *capsule,
			      const struct trstream_batch *b, uint32_t number)
{
	const struct trstream_column *c = &b->columns[number];
	PyObject *values = buffer_new(buffer, capsule, c->values, b->rows * c->size);
	PyObject *missing = buffer_new(buffer, capsule, c->missing, b->rows);

	if (values && missing)
		return Py_BuildValue("(iINN)", (int)c->form, (unsigned)c->size, values, missing);
	Py_XDECREF(values);
	Py_XDECREF(missing);
	return NULL;
}

/* (rows, [column, ...]); takes ownership of b. */
static PyObject *batch_tuple(PyTypeObject *buffer, struct trstream_batch *b)
{
	PyObject *capsule = PyCapsule_New(b, NULL, batch_free), *columns;

	if (!capsule) {
		trstream_batch_free(b);
		return NULL;
	}
	columns = PyList_New(b->ncolumns);
	for (uint32_t i = 0; columns && i < b->ncolumns; i++) {
		PyObject *column = batch_column(buffer, capsule, b, i);

		if (!column || PyList_SetItem(columns, i, column))
			Py_CLEAR(columns);
	}
	if (columns)
		columns = Py_BuildValue("(nN)", (Py_ssize_t)b->rows, columns);
	Py_DECREF(capsule);
	return columns;
}

/* --- readers --- */

struct reader_object {
	PyObject_HEAD struct trstream_reader *reader; /* NULL: closed */
	int busy; /* a thread reads, without the lock of the interpreter */
};

/* Get the reader of an object that no other thread uses. NULL: an exception was set. */
static struct trstream_reader *reader_of(PyObject *self)
{
	struct reader_object *o = (struct reader_object *)self;

	if (o->busy)
		PyErr_SetString(PyExc_RuntimeError, "another thread reads this table");
	else if (!o->reader)
		PyErr_SetString(PyExc_ValueError, "the table is closed");
	else
		return o->reader;
	return NULL;
}

static int set_attribute(PyObject *o, const char *name, PyObject *value)
{
	int bad = !value || PyObject_SetAttrString(o, name, value);

	Py_XDECREF(value);
	return bad;
}

/* Raise Error for the last -1 of a reader. Returns NULL. */
static PyObject *reader_raise(struct trstream_reader *r, PyObject *class)
{
	struct trstream_totals totals;
	uint64_t offset;
	const char *file = trstream_reader_error_place(r, &offset);
	const char *what = trstream_reader_error(r);
	PyObject *text = PyUnicode_DecodeUTF8(what, (Py_ssize_t)strlen(what), "backslashreplace");
	PyObject *error = text ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;

	Py_XDECREF(text);
	trstream_reader_totals(r, &totals);
	if (error &&
	    !set_attribute(error, "file",
			   *file ? PyUnicode_DecodeFSDefault(file) : Py_NewRef(Py_None)) &&
	    !set_attribute(error, "offset",
			   offset == UINT64_MAX ? Py_NewRef(Py_None)
						: PyLong_FromUnsignedLongLong(offset)) &&
	    !set_attribute(error, "status", PyLong_FromLong(totals.status)))
		PyErr_SetObject(class, error);
	Py_XDECREF(error);
	return NULL;
}

/* Get the texts of a list, which keeps them. NULL: an exception was set. */
static const char **list_texts(PyObject *list)
{
	Py_ssize_t n = PyList_Size(list);
	const char **texts = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *texts);

	if (n >= 0 && !texts)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; texts && i < n; i++) {
		texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
		if (!texts[i]) {
			free(texts);
			texts = NULL;
		}
	}
	return texts;
}

/* Open a path, or a descriptor, which the reader owns. NULL: an exception was set. */
static struct trstream_reader *open_source(PyObject *source, const char *name)
{
	struct trstream_reader *r;
	PyObject *path = NULL;
	long fd = -1;

	if (PyLong_Check(source))
		fd = PyLong_AsLong(source);
	else if (!PyUnicode_FSConverter(source, &path))
		return NULL;
	if (!path && (fd < 0 || fd > INT_MAX)) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_ValueError, "a descriptor is not negative");
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS r = path ? trstream_reader_open(PyBytes_AsString(path))
					: trstream_reader_open_fd((int)fd, name);
	Py_END_ALLOW_THREADS if (!r) PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, source);
	Py_XDECREF(path);
	return r;
}

/* Reader(source, name, table, columns, types, since, until) */
static PyObject *reader_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	struct trstream_query q;
	PyObject *source, *columns, *types, *self = NULL;
	struct module_state *state = PyType_GetModuleState(type);
	allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	struct trstream_reader *r;
	const char *name, *since, *until, **column_names, **type_names;
	int table;

	(void)keywords;
	if (!PyArg_ParseTuple(arguments, "OsiO!O!zz", &source, &name, &table, &PyList_Type,
			      &columns, &PyList_Type, &types, &since, &until))
		return NULL;
	column_names = list_texts(columns);
	type_names = column_names ? list_texts(types) : NULL;
	q = (struct trstream_query){.table = (enum trstream_table)table,
				    .columns = column_names,
				    .ncolumns = (uint32_t)PyList_Size(columns),
				    .types = type_names,
				    .ntypes = (uint32_t)PyList_Size(types),
				    .since = since,
				    .until = until};
	r = type_names ? open_source(source, name) : NULL;
	if (!type_names && PyLong_Check(source))
		close((int)PyLong_AsLong(source));
	if (r && trstream_reader_select(r, &q))
		reader_raise(r, state->error);
	else if (r)
		self = allocate(type, 0);
	if (self)
		((struct reader_object *)self)->reader = r;
	else
		trstream_reader_close(r);
	free(column_names);
	free(type_names);
	return self;
}

static void reader_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	trstream_reader_close(((struct reader_object *)self)->reader);
	release(self);
	Py_DECREF(type);
}

static PyObject *reader_next(PyObject *self, PyObject *unused)
{
	struct reader_object *o = (struct reader_object *)self;
	struct module_state *state = PyType_GetModuleState(Py_TYPE(self));
	struct trstream_reader *r = reader_of(self);
	struct trstream_batch *b;
	int got;

	(void)unused;
	if (!r)
		return NULL;
	o->busy = 1;
	Py_BEGIN_ALLOW_THREADS got = trstream_reader_next_batch(r, &b);
	Py_END_ALLOW_THREADS o->busy = 0;
	if (got < 0)
		return reader_raise(r, state->error);
	if (!got)
		Py_RETURN_NONE;
	return batch_tuple(state->buffer, b);
}

static PyObject *reader_text(PyObject *self, PyObject *number)
{
	struct trstream_reader *r = reader_of(self);
	unsigned long n = r ? PyLong_AsUnsignedLong(number) : 0;
	const char *text;
	size_t size;

	if (!r || PyErr_Occurred())
		return NULL;
	text = n <= UINT32_MAX ? trstream_reader_text(r, (uint32_t)n, &size) : NULL;
	if (text)
		return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "backslashreplace");
	PyErr_Format(PyExc_IndexError, "no text has the number %lu", n);
	return NULL;
}

/* (text of the innermost function, stack of its caller) */
static PyObject *reader_stack(PyObject *self, PyObject *number)
{
	struct trstream_reader *r = reader_of(self);
	unsigned long n = r ? PyLong_AsUnsignedLong(number) : 0;
	uint32_t name, caller;

	if (!r || PyErr_Occurred())
		return NULL;
	if (n <= UINT32_MAX && trstream_reader_stack(r, (uint32_t)n, &name, &caller))
		return Py_BuildValue("(II)", name, caller);
	PyErr_Format(PyExc_IndexError, "no stack has the number %lu", n);
	return NULL;
}

/* (events, gaps, lost, lost_more, status) */
static PyObject *reader_totals(PyObject *self, PyObject *unused)
{
	struct trstream_reader *r = reader_of(self);
	struct trstream_totals t;

	(void)unused;
	if (!r)
		return NULL;
	trstream_reader_totals(r, &t);
	return Py_BuildValue("(KKKOi)", (unsigned long long)t.events, (unsigned long long)t.gaps,
			     (unsigned long long)t.lost, t.lost_more ? Py_True : Py_False,
			     t.status);
}

static PyObject *reader_close(PyObject *self, PyObject *unused)
{
	struct reader_object *o = (struct reader_object *)self;

	(void)unused;
	if (o->reader && !reader_of(self))
		return NULL;
	trstream_reader_close(o->reader);
	o->reader = NULL;
	Py_RETURN_NONE;
}

static PyMethodDef reader_methods[] = {
	{"next", reader_next, METH_NOARGS, NULL},   {"text", reader_text, METH_O, NULL},
	{"stack", reader_stack, METH_O, NULL},	    {"totals", reader_totals, METH_NOARGS, NULL},
	{"close", reader_close, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot reader_slots[] = {{Py_tp_new, reader_new},
				     {Py_tp_dealloc, reader_dealloc},
				     {Py_tp_methods, reader_methods},
				     {0, NULL}};

static PyType_Spec reader_spec = {.name = "trstream._trstream.Reader",
				  .basicsize = sizeof(struct reader_object),
				  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
				  .slots = reader_slots};

/* --- the module --- */

static int module_exec(PyObject *module)
{
	struct module_state *s = PyModule_GetState(module);

	s->error = PyErr_NewExceptionWithDoc(
		"trstream.Error", "Reading failed; file and offset say where, or are None.", NULL,
		NULL);
	s->reader = (PyTypeObject *)PyType_FromModuleAndSpec(module, &reader_spec, NULL);
	s->buffer = (PyTypeObject *)PyType_FromModuleAndSpec(module, &buffer_spec, NULL);
	if (!s->error || !s->reader || !s->buffer ||
	    PyModule_AddObjectRef(module, "Error", s->error) || PyModule_AddType(module, s->reader))
		return -1;
	return PyModule_AddStringConstant(module, "version", trstream_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module_state *s = PyModule_GetState(module);

	Py_VISIT(s->error);
	Py_VISIT(s->reader);
	Py_VISIT(s->buffer);
	return 0;
}

static int module_clear(PyObject *module)
{
	struct module_state *s = PyModule_GetState(module);

	Py_CLEAR(s->error);
	Py_CLEAR(s->reader);
	Py_CLEAR(s->buffer);
	return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {.m_base = PyModuleDef_HEAD_INIT,
					       .m_name = "_trstream",
					       .m_size = sizeof(struct module_state),
					       .m_slots = module_slots,
					       .m_traverse = module_traverse,
					       .m_clear = module_clear};

PyMODINIT_FUNC PyInit__trstream(void);
PyMODINIT_FUNC PyInit__trstream(void)
{
	return PyModuleDef_Init(&module_definition);
}
