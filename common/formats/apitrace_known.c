/*
 * apitrace_known.c - what apitrace knows of functions by their names, and its files do not contain
 *
 * As of apitrace 11.1.
 */
#include "common/formats/apitrace.h"

#include <stdlib.h>
#include <string.h>

/* sorted by name */
static const struct {
	const char *name;
	unsigned flags;
} functions[] = {
	/* clang-format off */
	{"CGLFlushDrawable", 32}, {"CGLGetCurrentContext", 132}, {"D3DPERF_BeginEvent", 768},
	{"D3DPERF_EndEvent", 1280}, {"D3DPERF_SetMarker", 256},
	{"ID3D10Device1::Draw", 8},
	{"ID3D10Device1::DrawAuto", 8}, {"ID3D10Device1::DrawIndexed", 8},
	{"ID3D10Device1::DrawIndexedInstanced", 8}, {"ID3D10Device1::DrawInstanced", 8},
	{"ID3D10Device1::OMSetRenderTargets", 16},
	{"ID3D10Device::Draw", 8},
	{"ID3D10Device::DrawAuto", 8}, {"ID3D10Device::DrawIndexed", 8},
	{"ID3D10Device::DrawIndexedInstanced", 8}, {"ID3D10Device::DrawInstanced", 8},
	{"ID3D10Device::OMSetRenderTargets", 16},
	{"ID3D11DeviceContext1::Draw", 8},
	{"ID3D11DeviceContext1::DrawAuto", 8}, {"ID3D11DeviceContext1::DrawIndexed", 8},
	{"ID3D11DeviceContext1::DrawIndexedInstanced", 8},
	{"ID3D11DeviceContext1::DrawIndexedInstancedIndirect", 8},
	{"ID3D11DeviceContext1::DrawInstanced", 8},
	{"ID3D11DeviceContext1::DrawInstancedIndirect", 8},
	{"ID3D11DeviceContext1::ExecuteCommandList", 8},
	{"ID3D11DeviceContext1::OMSetRenderTargets", 16},
	{"ID3D11DeviceContext1::OMSetRenderTargetsAndUnorderedAccessViews", 16},
	{"ID3D11DeviceContext::Draw", 8}, {"ID3D11DeviceContext::DrawAuto", 8},
	{"ID3D11DeviceContext::DrawIndexed", 8},
	{"ID3D11DeviceContext::DrawIndexedInstanced", 8},
	{"ID3D11DeviceContext::DrawIndexedInstancedIndirect", 8},
	{"ID3D11DeviceContext::DrawInstanced", 8},
	{"ID3D11DeviceContext::DrawInstancedIndirect", 8},
	{"ID3D11DeviceContext::ExecuteCommandList", 8},
	{"ID3D11DeviceContext::OMSetRenderTargets", 16},
	{"ID3D11DeviceContext::OMSetRenderTargetsAndUnorderedAccessViews", 16},
	{"ID3D11VideoProcessorEnumerator::CheckVideoProcessorFormat", 132},
	{"ID3DUserDefinedAnnotation::BeginEvent", 768},
	{"ID3DUserDefinedAnnotation::EndEvent", 1280},
	{"ID3DUserDefinedAnnotation::SetMarker", 256},
	{"IDXGIDecodeSwapChain::PresentBuffer", 32}, {"IDXGISwapChain1::Present", 32},
	{"IDXGISwapChain1::Present1", 32}, {"IDXGISwapChain2::Present", 32},
	{"IDXGISwapChain2::Present1", 32}, {"IDXGISwapChain::Present", 32},
	{"IDXGISwapChainDWM::Present", 32}, {"IDirect3D8::CheckDeviceFormat", 132},
	{"IDirect3D8::EnumAdapterModes", 132}, {"IDirect3D8::GetAdapterModeCount", 132},
	{"IDirect3D8::GetDeviceCaps", 132}, {"IDirect3D9::CheckDeviceFormat", 132},
	{"IDirect3D9::EnumAdapterModes", 132}, {"IDirect3D9::GetAdapterModeCount", 132},
	{"IDirect3D9::GetDeviceCaps", 132}, {"IDirect3D9Ex::CheckDeviceFormat", 132},
	{"IDirect3D9Ex::EnumAdapterModes", 132}, {"IDirect3D9Ex::GetAdapterModeCount", 132},
	{"IDirect3D9Ex::GetDeviceCaps", 132}, {"IDirect3DDevice2::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice2::DrawPrimitive", 8}, {"IDirect3DDevice3::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice3::DrawIndexedPrimitiveStrided", 8},
	{"IDirect3DDevice3::DrawIndexedPrimitiveVB", 8}, {"IDirect3DDevice3::DrawPrimitive", 8},
	{"IDirect3DDevice3::DrawPrimitiveStrided", 8}, {"IDirect3DDevice3::DrawPrimitiveVB", 8},
	{"IDirect3DDevice7::Clear", 8}, {"IDirect3DDevice7::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice7::DrawIndexedPrimitiveStrided", 8},
	{"IDirect3DDevice7::DrawIndexedPrimitiveVB", 8}, {"IDirect3DDevice7::DrawPrimitive", 8},
	{"IDirect3DDevice7::DrawPrimitiveStrided", 8}, {"IDirect3DDevice7::DrawPrimitiveVB", 8},
	{"IDirect3DDevice8::Clear", 8}, {"IDirect3DDevice8::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice8::DrawIndexedPrimitiveUP", 8}, {"IDirect3DDevice8::DrawPrimitive", 8},
	{"IDirect3DDevice8::DrawPrimitiveUP", 8}, {"IDirect3DDevice8::DrawRectPatch", 8},
	{"IDirect3DDevice8::DrawTriPatch", 8}, {"IDirect3DDevice8::GetDeviceCaps", 132},
	{"IDirect3DDevice8::Present", 48}, {"IDirect3DDevice8::SetRenderTarget", 16},
	{"IDirect3DDevice9::Clear", 8}, {"IDirect3DDevice9::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice9::DrawIndexedPrimitiveUP", 8}, {"IDirect3DDevice9::DrawPrimitive", 8},
	{"IDirect3DDevice9::DrawPrimitiveUP", 8}, {"IDirect3DDevice9::DrawRectPatch", 8},
	{"IDirect3DDevice9::DrawTriPatch", 8}, {"IDirect3DDevice9::GetDeviceCaps", 132},
	{"IDirect3DDevice9::GetRenderTargetData", 32}, {"IDirect3DDevice9::Present", 48},
	{"IDirect3DDevice9::SetRenderTarget", 16}, {"IDirect3DDevice9Ex::Clear", 8},
	{"IDirect3DDevice9Ex::DrawIndexedPrimitive", 8},
	{"IDirect3DDevice9Ex::DrawIndexedPrimitiveUP", 8},
	{"IDirect3DDevice9Ex::DrawPrimitive", 8}, {"IDirect3DDevice9Ex::DrawPrimitiveUP", 8},
	{"IDirect3DDevice9Ex::DrawRectPatch", 8}, {"IDirect3DDevice9Ex::DrawTriPatch", 8},
	{"IDirect3DDevice9Ex::GetDeviceCaps", 132},
	{"IDirect3DDevice9Ex::GetRenderTargetData", 32}, {"IDirect3DDevice9Ex::Present", 48},
	{"IDirect3DDevice9Ex::PresentEx", 48}, {"IDirect3DDevice9Ex::SetRenderTarget", 16},
	{"IDirect3DSwapChain9::Present", 48}, {"IDirect3DSwapChain9Ex::Present", 48},
	{"IDirect3DViewport2::Clear", 8}, {"IDirect3DViewport3::Clear", 8},
	{"IDirect3DViewport3::Clear2", 8}, {"IDirect3DViewport::Clear", 8},
	{"eglGetConfigAttrib", 128}, {"eglGetProcAddress", 132}, {"eglQueryString", 132},
	{"eglSetDamageRegionKHR", 4}, {"eglSwapBuffers", 48},
	{"eglSwapBuffersWithDamageEXT", 48}, {"eglSwapBuffersWithDamageKHR", 48},
	{"glAreProgramsResidentNV", 4}, {"glAreTexturesResident", 4},
	{"glAreTexturesResidentEXT", 4}, {"glBindFramebuffer", 16}, {"glBindFramebufferEXT", 16},
	{"glBindFramebufferOES", 16}, {"glBlitFramebuffer", 8}, {"glBlitFramebufferANGLE", 8},
	{"glBlitFramebufferEXT", 8}, {"glBlitFramebufferNV", 8}, {"glBufferRegionEnabled", 4},
	{"glCallList", 8}, {"glCallLists", 8}, {"glClear", 8}, {"glDebugMessageControl", 4},
	{"glDebugMessageControlARB", 4}, {"glDebugMessageEnableAMD", 4},
	{"glDebugMessageInsert", 260}, {"glDebugMessageInsertAMD", 260},
	{"glDebugMessageInsertARB", 260}, {"glDebugMessageInsertKHR", 260}, {"glDrawArrays", 8},
	{"glDrawArraysEXT", 8}, {"glDrawArraysIndirect", 8}, {"glDrawArraysInstanced", 8},
	{"glDrawArraysInstancedANGLE", 8}, {"glDrawArraysInstancedARB", 8},
	{"glDrawArraysInstancedBaseInstance", 8}, {"glDrawArraysInstancedBaseInstanceEXT", 8},
	{"glDrawArraysInstancedEXT", 8}, {"glDrawElements", 8}, {"glDrawElementsBaseVertex", 8},
	{"glDrawElementsBaseVertexEXT", 8}, {"glDrawElementsIndirect", 8},
	{"glDrawElementsInstanced", 8}, {"glDrawElementsInstancedANGLE", 8},
	{"glDrawElementsInstancedARB", 8}, {"glDrawElementsInstancedBaseInstance", 8},
	{"glDrawElementsInstancedBaseInstanceEXT", 8}, {"glDrawElementsInstancedBaseVertex", 8},
	{"glDrawElementsInstancedBaseVertexBaseInstance", 8},
	{"glDrawElementsInstancedBaseVertexBaseInstanceEXT", 8},
	{"glDrawElementsInstancedBaseVertexEXT", 8}, {"glDrawElementsInstancedEXT", 8},
	{"glDrawMeshArraysSUN", 8}, {"glDrawPixels", 8}, {"glDrawRangeElements", 8},
	{"glDrawRangeElementsBaseVertex", 8}, {"glDrawRangeElementsBaseVertexEXT", 8},
	{"glDrawRangeElementsEXT", 8}, {"glDrawTransformFeedback", 8},
	{"glDrawTransformFeedbackInstanced", 8}, {"glDrawTransformFeedbackNV", 8},
	{"glDrawTransformFeedbackStream", 8}, {"glDrawTransformFeedbackStreamInstanced", 8},
	{"glEnd", 8}, {"glEvalMesh1", 8}, {"glEvalMesh2", 8}, {"glFrameTerminatorGREMEDY", 32},
	{"glGetActiveAtomicCounterBufferiv", 4}, {"glGetActiveAttrib", 4},
	{"glGetActiveAttribARB", 4}, {"glGetActiveSubroutineName", 4},
	{"glGetActiveSubroutineUniformName", 4}, {"glGetActiveSubroutineUniformiv", 4},
	{"glGetActiveUniform", 4}, {"glGetActiveUniformARB", 4},
	{"glGetActiveUniformBlockName", 4}, {"glGetActiveUniformBlockiv", 4},
	{"glGetActiveUniformName", 4}, {"glGetActiveUniformsiv", 4}, {"glGetActiveVaryingNV", 4},
	{"glGetArrayObjectfvATI", 4}, {"glGetArrayObjectivATI", 4},
	{"glGetAttachedObjectsARB", 4}, {"glGetAttachedShaders", 4},
	{"glGetBooleanIndexedvEXT", 4}, {"glGetBooleani_v", 4}, {"glGetBooleanv", 4},
	{"glGetBufferParameteri64v", 4}, {"glGetBufferParameteriv", 4},
	{"glGetBufferParameterivARB", 4}, {"glGetBufferParameterui64vNV", 4},
	{"glGetBufferPointerv", 4}, {"glGetBufferPointervARB", 4}, {"glGetBufferSubData", 4},
	{"glGetBufferSubDataARB", 4}, {"glGetClipPlane", 4}, {"glGetColorTable", 4},
	{"glGetColorTableEXT", 4}, {"glGetColorTableParameterfv", 4},
	{"glGetColorTableParameterfvEXT", 4}, {"glGetColorTableParameterfvSGI", 4},
	{"glGetColorTableParameteriv", 4}, {"glGetColorTableParameterivEXT", 4},
	{"glGetColorTableParameterivSGI", 4}, {"glGetColorTableSGI", 4},
	{"glGetCombinerInputParameterfvNV", 4}, {"glGetCombinerInputParameterivNV", 4},
	{"glGetCombinerOutputParameterfvNV", 4}, {"glGetCombinerOutputParameterivNV", 4},
	{"glGetCombinerStageParameterfvNV", 4}, {"glGetConvolutionFilterEXT", 4},
	{"glGetConvolutionParameterfv", 4}, {"glGetConvolutionParameterfvEXT", 4},
	{"glGetConvolutionParameteriv", 4}, {"glGetConvolutionParameterivEXT", 4},
	{"glGetDetailTexFuncSGIS", 4}, {"glGetDoubleIndexedvEXT", 4}, {"glGetDoublei_v", 4},
	{"glGetDoublev", 4}, {"glGetError", 4}, {"glGetFenceivNV", 4},
	{"glGetFinalCombinerInputParameterfvNV", 4}, {"glGetFinalCombinerInputParameterivNV", 4},
	{"glGetFloatIndexedvEXT", 4}, {"glGetFloati_v", 4}, {"glGetFloati_vEXT", 4},
	{"glGetFloatv", 4}, {"glGetFogFuncSGIS", 4}, {"glGetFragDataIndex", 4},
	{"glGetFragmentLightfvSGIX", 4}, {"glGetFragmentLightivSGIX", 4},
	{"glGetFragmentMaterialfvSGIX", 4}, {"glGetFragmentMaterialivSGIX", 4},
	{"glGetFramebufferAttachmentParameteriv", 4},
	{"glGetFramebufferAttachmentParameterivEXT", 4}, {"glGetFramebufferParameteriv", 4},
	{"glGetFramebufferParameterivEXT", 4}, {"glGetGraphicsResetStatusARB", 4},
	{"glGetHandleARB", 4}, {"glGetHistogramEXT", 4}, {"glGetHistogramParameterfv", 4},
	{"glGetHistogramParameterfvEXT", 4}, {"glGetHistogramParameteriv", 4},
	{"glGetHistogramParameterivEXT", 4}, {"glGetImageTransformParameterfvHP", 4},
	{"glGetImageTransformParameterivHP", 4}, {"glGetInfoLogARB", 4},
	{"glGetInstrumentsSGIX", 4}, {"glGetInteger64i_v", 4}, {"glGetInteger64v", 4},
	{"glGetInteger64vAPPLE", 4}, {"glGetIntegerIndexedvEXT", 4}, {"glGetIntegeri_v", 4},
	{"glGetIntegeri_vEXT", 4}, {"glGetIntegerui64i_vNV", 4}, {"glGetIntegerui64vNV", 4},
	{"glGetIntegerv", 4}, {"glGetInternalformati64v", 4}, {"glGetInternalformativ", 4},
	{"glGetInvariantBooleanvEXT", 4}, {"glGetInvariantFloatvEXT", 4},
	{"glGetInvariantIntegervEXT", 4}, {"glGetLightfv", 4}, {"glGetLightiv", 4},
	{"glGetListParameterfvSGIX", 4}, {"glGetListParameterivSGIX", 4},
	{"glGetLocalConstantBooleanvEXT", 4}, {"glGetLocalConstantFloatvEXT", 4},
	{"glGetLocalConstantIntegervEXT", 4}, {"glGetMapAttribParameterfvNV", 4},
	{"glGetMapAttribParameterivNV", 4}, {"glGetMapControlPointsNV", 4},
	{"glGetMapParameterfvNV", 4}, {"glGetMapParameterivNV", 4}, {"glGetMapdv", 4},
	{"glGetMapfv", 4}, {"glGetMapiv", 4}, {"glGetMaterialfv", 4}, {"glGetMaterialiv", 4},
	{"glGetMinmaxEXT", 4}, {"glGetMinmaxParameterfv", 4}, {"glGetMinmaxParameterfvEXT", 4},
	{"glGetMinmaxParameteriv", 4}, {"glGetMinmaxParameterivEXT", 4},
	{"glGetMultiTexEnvfvEXT", 4}, {"glGetMultiTexEnvivEXT", 4}, {"glGetMultiTexGendvEXT", 4},
	{"glGetMultiTexGenfvEXT", 4}, {"glGetMultiTexGenivEXT", 4},
	{"glGetMultiTexLevelParameterfvEXT", 4}, {"glGetMultiTexLevelParameterivEXT", 4},
	{"glGetMultiTexParameterIivEXT", 4}, {"glGetMultiTexParameterIuivEXT", 4},
	{"glGetMultiTexParameterfvEXT", 4}, {"glGetMultiTexParameterivEXT", 4},
	{"glGetMultisamplefv", 4}, {"glGetMultisamplefvNV", 4},
	{"glGetNamedBufferParameterivEXT", 4}, {"glGetNamedBufferParameterui64vNV", 4},
	{"glGetNamedBufferPointervEXT", 4}, {"glGetNamedBufferSubDataEXT", 4},
	{"glGetNamedFramebufferAttachmentParameterivEXT", 4},
	{"glGetNamedFramebufferParameterivEXT", 4}, {"glGetNamedProgramLocalParameterIivEXT", 4},
	{"glGetNamedProgramLocalParameterIuivEXT", 4},
	{"glGetNamedProgramLocalParameterdvEXT", 4}, {"glGetNamedProgramLocalParameterfvEXT", 4},
	{"glGetNamedProgramStringEXT", 4}, {"glGetNamedProgramivEXT", 4},
	{"glGetNamedRenderbufferParameterivEXT", 4}, {"glGetNamedStringARB", 4},
	{"glGetNamedStringivARB", 4}, {"glGetObjectBufferfvATI", 4},
	{"glGetObjectBufferivATI", 4}, {"glGetObjectLabel", 4}, {"glGetObjectParameterfvARB", 4},
	{"glGetObjectParameterivAPPLE", 4}, {"glGetObjectParameterivARB", 4},
	{"glGetObjectPtrLabel", 4}, {"glGetOcclusionQueryivNV", 4},
	{"glGetOcclusionQueryuivNV", 4}, {"glGetPerfMonitorCounterDataAMD", 4},
	{"glGetPerfMonitorCounterInfoAMD", 4}, {"glGetPerfMonitorCounterStringAMD", 4},
	{"glGetPerfMonitorCountersAMD", 4}, {"glGetPerfMonitorGroupStringAMD", 4},
	{"glGetPerfMonitorGroupsAMD", 4}, {"glGetPixelTexGenParameterfvSGIS", 4},
	{"glGetPixelTexGenParameterivSGIS", 4}, {"glGetPointerIndexedvEXT", 4},
	{"glGetPointerv", 4}, {"glGetPointervEXT", 4}, {"glGetProgramBinary", 4},
	{"glGetProgramEnvParameterIivNV", 4}, {"glGetProgramEnvParameterIuivNV", 4},
	{"glGetProgramEnvParameterdvARB", 4}, {"glGetProgramEnvParameterfvARB", 4},
	{"glGetProgramInfoLog", 4}, {"glGetProgramInterfaceiv", 4},
	{"glGetProgramLocalParameterIivNV", 4}, {"glGetProgramLocalParameterIuivNV", 4},
	{"glGetProgramLocalParameterdvARB", 4}, {"glGetProgramLocalParameterfvARB", 4},
	{"glGetProgramNamedParameterdvNV", 4}, {"glGetProgramNamedParameterfvNV", 4},
	{"glGetProgramParameterdvNV", 4}, {"glGetProgramParameterfvNV", 4},
	{"glGetProgramPipelineInfoLog", 4}, {"glGetProgramPipelineiv", 4},
	{"glGetProgramResourceIndex", 4}, {"glGetProgramResourceLocation", 4},
	{"glGetProgramResourceLocationIndex", 4}, {"glGetProgramResourceName", 4},
	{"glGetProgramResourceiv", 4}, {"glGetProgramStageiv", 4}, {"glGetProgramStringARB", 4},
	{"glGetProgramStringNV", 4}, {"glGetProgramSubroutineParameteruivNV", 4},
	{"glGetProgramiv", 4}, {"glGetProgramivARB", 4}, {"glGetProgramivNV", 4},
	{"glGetQueryIndexediv", 4}, {"glGetQueryiv", 4}, {"glGetQueryivARB", 4},
	{"glGetRenderbufferParameteriv", 4}, {"glGetRenderbufferParameterivEXT", 4},
	{"glGetSamplerParameterIiv", 4}, {"glGetSamplerParameterIuiv", 4},
	{"glGetSamplerParameterfv", 4}, {"glGetSamplerParameteriv", 4},
	{"glGetSeparableFilterEXT", 4}, {"glGetShaderInfoLog", 4},
	{"glGetShaderPrecisionFormat", 4}, {"glGetShaderSource", 4}, {"glGetShaderSourceARB", 4},
	{"glGetShaderiv", 4}, {"glGetSharpenTexFuncSGIS", 4}, {"glGetString", 132},
	{"glGetStringi", 132}, {"glGetSynciv", 4}, {"glGetTexBumpParameterfvATI", 4},
	{"glGetTexBumpParameterivATI", 4}, {"glGetTexEnvfv", 4}, {"glGetTexEnviv", 4},
	{"glGetTexFilterFuncSGIS", 4}, {"glGetTexGendv", 4}, {"glGetTexGenfv", 4},
	{"glGetTexGeniv", 4}, {"glGetTexLevelParameterfv", 4}, {"glGetTexLevelParameteriv", 4},
	{"glGetTexParameterIiv", 4}, {"glGetTexParameterIivEXT", 4},
	{"glGetTexParameterIuiv", 4}, {"glGetTexParameterIuivEXT", 4},
	{"glGetTexParameterPointervAPPLE", 4}, {"glGetTexParameterfv", 4},
	{"glGetTexParameteriv", 4}, {"glGetTexParameterxv", 4},
	{"glGetTextureLevelParameterfv", 4}, {"glGetTextureLevelParameterfvEXT", 4},
	{"glGetTextureLevelParameteriv", 4}, {"glGetTextureLevelParameterivEXT", 4},
	{"glGetTextureParameterIiv", 4}, {"glGetTextureParameterIivEXT", 4},
	{"glGetTextureParameterIuiv", 4}, {"glGetTextureParameterIuivEXT", 4},
	{"glGetTextureParameterfv", 4}, {"glGetTextureParameterfvEXT", 4},
	{"glGetTextureParameteriv", 4}, {"glGetTextureParameterivEXT", 4},
	{"glGetTrackMatrixivNV", 4}, {"glGetTransformFeedbackVarying", 4},
	{"glGetTransformFeedbackVaryingEXT", 4}, {"glGetTransformFeedbackVaryingNV", 4},
	{"glGetUniformIndices", 4}, {"glGetUniformSubroutineuiv", 4}, {"glGetUniformdv", 4},
	{"glGetUniformfv", 4}, {"glGetUniformfvARB", 4}, {"glGetUniformi64vNV", 4},
	{"glGetUniformiv", 4}, {"glGetUniformivARB", 4}, {"glGetUniformui64vNV", 4},
	{"glGetUniformuiv", 4}, {"glGetUniformuivEXT", 4}, {"glGetVariantArrayObjectfvATI", 4},
	{"glGetVariantArrayObjectivATI", 4}, {"glGetVariantBooleanvEXT", 4},
	{"glGetVariantFloatvEXT", 4}, {"glGetVariantIntegervEXT", 4},
	{"glGetVariantPointervEXT", 4}, {"glGetVertexArrayIntegeri_vEXT", 4},
	{"glGetVertexArrayIntegervEXT", 4}, {"glGetVertexArrayPointeri_vEXT", 4},
	{"glGetVertexArrayPointervEXT", 4}, {"glGetVertexAttribArrayObjectfvATI", 4},
	{"glGetVertexAttribArrayObjectivATI", 4}, {"glGetVertexAttribIiv", 4},
	{"glGetVertexAttribIivEXT", 4}, {"glGetVertexAttribIuiv", 4},
	{"glGetVertexAttribIuivEXT", 4}, {"glGetVertexAttribLdv", 4},
	{"glGetVertexAttribLdvEXT", 4}, {"glGetVertexAttribLi64vNV", 4},
	{"glGetVertexAttribLui64vARB", 4}, {"glGetVertexAttribLui64vNV", 4},
	{"glGetVertexAttribPointerv", 4}, {"glGetVertexAttribPointervARB", 4},
	{"glGetVertexAttribPointervNV", 4}, {"glGetVertexAttribdv", 4},
	{"glGetVertexAttribdvARB", 4}, {"glGetVertexAttribdvNV", 4}, {"glGetVertexAttribfv", 4},
	{"glGetVertexAttribfvARB", 4}, {"glGetVertexAttribfvNV", 4}, {"glGetVertexAttribiv", 4},
	{"glGetVertexAttribivARB", 4}, {"glGetVertexAttribivNV", 4},
	{"glGetVideoCaptureStreamdvNV", 4}, {"glGetVideoCaptureStreamfvNV", 4},
	{"glGetVideoCaptureStreamivNV", 4}, {"glGetVideoCaptureivNV", 4},
	{"glGetVideoi64vNV", 4}, {"glGetVideoivNV", 4}, {"glGetVideoui64vNV", 4},
	{"glGetVideouivNV", 4}, {"glGetnMapdvARB", 4}, {"glGetnMapfvARB", 4},
	{"glGetnMapivARB", 4}, {"glGetnUniformdvARB", 4}, {"glGetnUniformfvARB", 4},
	{"glGetnUniformivARB", 4}, {"glGetnUniformuivARB", 4}, {"glInsertEventMarkerEXT", 260},
	{"glIsAsyncMarkerSGIX", 132}, {"glIsBuffer", 132}, {"glIsBufferARB", 132},
	{"glIsBufferResidentNV", 132}, {"glIsEnabled", 132}, {"glIsEnabledIndexedEXT", 132},
	{"glIsEnabledi", 132}, {"glIsFenceAPPLE", 132}, {"glIsFenceNV", 132},
	{"glIsFramebuffer", 132}, {"glIsFramebufferEXT", 132}, {"glIsList", 132},
	{"glIsNameAMD", 132}, {"glIsNamedBufferResidentNV", 132}, {"glIsNamedStringARB", 132},
	{"glIsObjectBufferATI", 132}, {"glIsOcclusionQueryNV", 132}, {"glIsProgram", 132},
	{"glIsProgramARB", 132}, {"glIsProgramNV", 132}, {"glIsProgramPipeline", 132},
	{"glIsQuery", 132}, {"glIsQueryARB", 132}, {"glIsRenderbuffer", 132},
	{"glIsRenderbufferEXT", 132}, {"glIsSampler", 132}, {"glIsShader", 132},
	{"glIsSync", 132}, {"glIsTexture", 132}, {"glIsTextureEXT", 132},
	{"glIsTransformFeedback", 132}, {"glIsTransformFeedbackNV", 132},
	{"glIsVariantEnabledEXT", 132}, {"glIsVertexArray", 132}, {"glIsVertexArrayAPPLE", 132},
	{"glIsVertexAttribEnabledAPPLE", 132}, {"glMultiDrawArrays", 8},
	{"glMultiDrawArraysEXT", 8}, {"glMultiDrawArraysIndirect", 8},
	{"glMultiDrawArraysIndirectAMD", 8}, {"glMultiDrawArraysIndirectBindlessNV", 8},
	{"glMultiDrawArraysIndirectCount", 8}, {"glMultiDrawArraysIndirectCountARB", 8},
	{"glMultiDrawArraysIndirectEXT", 8}, {"glMultiDrawElements", 8},
	{"glMultiDrawElementsBaseVertex", 8}, {"glMultiDrawElementsBaseVertexEXT", 8},
	{"glMultiDrawElementsEXT", 8}, {"glMultiDrawElementsIndirect", 8},
	{"glMultiDrawElementsIndirectAMD", 8}, {"glMultiDrawElementsIndirectBindlessNV", 8},
	{"glMultiDrawElementsIndirectCount", 8}, {"glMultiDrawElementsIndirectCountARB", 8},
	{"glMultiDrawElementsIndirectEXT", 8}, {"glMultiModeDrawArraysIBM", 8},
	{"glMultiModeDrawElementsIBM", 8}, {"glObjectLabel", 4}, {"glObjectLabelKHR", 4},
	{"glObjectPtrLabel", 4}, {"glObjectPtrLabelKHR", 4}, {"glPopDebugGroup", 1280},
	{"glPopDebugGroupKHR", 1280}, {"glPopGroupMarkerEXT", 1280}, {"glPushDebugGroup", 768},
	{"glPushDebugGroupKHR", 768}, {"glPushGroupMarkerEXT", 768}, {"glRectd", 8},
	{"glRectdv", 8}, {"glRectf", 8}, {"glRectfv", 8}, {"glRecti", 8}, {"glRectiv", 8},
	{"glRects", 8}, {"glRectsv", 8}, {"glStringMarkerGREMEDY", 256},
	{"glXGetClientString", 132}, {"glXGetConfig", 132}, {"glXGetCurrentContext", 132},
	{"glXGetCurrentDisplay", 132}, {"glXGetCurrentDisplayEXT", 132},
	{"glXGetCurrentDrawable", 132}, {"glXGetCurrentReadDrawable", 132},
	{"glXGetCurrentReadDrawableSGI", 132}, {"glXGetFBConfigAttrib", 128},
	{"glXGetFBConfigAttribSGIX", 128}, {"glXGetProcAddress", 132},
	{"glXGetProcAddressARB", 132}, {"glXIsDirect", 132}, {"glXQueryExtension", 132},
	{"glXQueryExtensionsString", 132}, {"glXQueryVersion", 132}, {"glXSwapBuffers", 48},
	{"glXSwapBuffersMscOML", 48}, {"wglDescribePixelFormat", 132},
	{"wglGetCurrentContext", 132}, {"wglGetCurrentDC", 132},
	{"wglGetDefaultProcAddress", 132}, {"wglGetExtensionsStringARB", 132},
	{"wglGetExtensionsStringEXT", 132}, {"wglGetPixelFormat", 132},
	{"wglGetPixelFormatAttribivARB", 128}, {"wglGetPixelFormatAttribivEXT", 128},
	{"wglGetProcAddress", 132}, {"wglSwapBuffers", 48}, {"wglSwapLayerBuffers", 48},
	{"wglSwapMultipleBuffers", 48},
	/* clang-format on */
};

struct name {
	const char *text;
	size_t size;
};

static int by_name(const void *key, const void *row)
{
	const struct name *k = key;
	const char *name = *(const char *const *)row;
	int order = strncmp(k->text, name, k->size);

	return order ? order : -(name[k->size] != '\0');
}

/* I...SwapChain::Present and similar names of any version:
 * IDXGI[Decode]SwapChain<word>::Present<word> */
static bool is_present(const char *s, size_t n)
{
	static const char *const starts[] = {"IDXGISwapChain", "IDXGIDecodeSwapChain"};
	static const char method[] = "::Present";

	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(starts[i]), at = length;

		if (n < length || memcmp(s, starts[i], length) != 0)
			continue;
		while (at < n && s[at] != ':')
			at++;
		if (n - at < sizeof method - 1 || memcmp(s + at, method, sizeof method - 1) != 0)
			return false;
		for (at += sizeof method - 1; at < n; at++)
			if (s[at] == ':')
				return false;
		return true;
	}
	return false;
}

/* Calls that query the device's abilities: ID3D1[01]Device<digits>::Check<what>, of any version */
static bool is_device_check(const char *s, size_t n)
{
	static const char *const methods[] = {"::CheckFormatSupport",
					      "::CheckMultisampleQualityLevels"};
	static const char device[] = "Device";
	size_t at = sizeof "ID3D1x" - 1;

	if (n < at + sizeof device - 1 || memcmp(s, "ID3D1", at - 1) != 0 ||
	    (s[at - 1] != '0' && s[at - 1] != '1') ||
	    memcmp(s + at, device, sizeof device - 1) != 0)
		return false;
	at += sizeof device - 1;
	while (at < n && s[at] >= '0' && s[at] <= '9')
		at++;
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (n - at == strlen(methods[i]) && !memcmp(s + at, methods[i], n - at))
			return true;
	return false;
}

unsigned apitrace_known(const char *function, size_t n)
{
	struct name key = {function, n = strnlen(function, n)};
	const void *row;

	if (!n)
		return 0;
	row = bsearch(&key, functions, sizeof functions / sizeof *functions, sizeof *functions,
		      by_name);
	if (row)
		return functions[(size_t)((const char *)row - (const char *)functions) /
				 sizeof *functions]
			.flags;
	if (is_device_check(function, n))
		return APITRACE_NO_SIDE_EFFECTS | APITRACE_VERBOSE;
	return is_present(function, n) ? APITRACE_END_FRAME : 0;
}

static bool contains(const char *s, size_t n, const char *word)
{
	return memmem(s, n, word, strlen(word)) != NULL;
}

const char *apitrace_class(const char *function, size_t n)
{
	unsigned known = apitrace_known(function, n);

	if (known & APITRACE_END_FRAME)
		return "frame";
	if (known & APITRACE_RENDER)
		return contains(function, n, "Clear") || contains(function, n, "Blit") ||
				       contains(function, n, "ExecuteCommandList")
			       ? "render"
			       : "draw";
	if (known & APITRACE_MARKER)
		return "marker";
	if (known & APITRACE_SWAP_TARGET)
		return "target";
	return known & APITRACE_NO_SIDE_EFFECTS ? "query" : NULL;
}
