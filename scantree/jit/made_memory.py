# SPDX-License-Identifier: Apache-2.0
"""Memory of arrays that kernels make and return, in LLVM's language: it follows the layout of
Numba's runtime, which a process without Numba does not have.
"""

from __future__ import annotations

RUNTIME = """
%memory = type { i64, ptr, ptr, ptr, i64, ptr }
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)

define ptr @NRT_MemInfo_data_fast(ptr %made) {
  %place = getelementptr %memory, ptr %made, i64 0, i32 3
  %data = load ptr, ptr %place
  ret ptr %data
}

define noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %align = zext i32 %alignment to i64
  %extra = add i64 %align, 48
  %whole = add i64 %size, %extra
  %made = call ptr @malloc(i64 %whole)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %some
none:
  ret ptr null
some:
  store %memory { i64 1, ptr null, ptr null, ptr null, i64 0, ptr null }, ptr %made
  %number = ptrtoint ptr %made to i64
  %last = sub i64 %extra, 1
  %beyond = add i64 %number, %last
  %rest = urem i64 %beyond, %align
  %start = sub i64 %beyond, %rest
  %data = inttoptr i64 %start to ptr
  %place = getelementptr %memory, ptr %made, i64 0, i32 3
  store ptr %data, ptr %place
  %size_at = getelementptr %memory, ptr %made, i64 0, i32 4
  store i64 %size, ptr %size_at
  ret ptr %made
}

define noalias ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %before_end) {
  %made = call ptr @malloc(i64 48)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %half
half:
  %data = call ptr @malloc(i64 %size)
  %incomplete = icmp eq ptr %data, null
  br i1 %incomplete, label %back, label %some
back:
  call void @free(ptr %made)
  br label %none
none:
  ret ptr null
some:
  store %memory { i64 1, ptr @lftj_give_back, ptr null, ptr null, i64 0, ptr null }, ptr %made
  %info_at = getelementptr %memory, ptr %made, i64 0, i32 2
  store ptr %before_end, ptr %info_at
  %data_at = getelementptr %memory, ptr %made, i64 0, i32 3
  store ptr %data, ptr %data_at
  %size_at = getelementptr %memory, ptr %made, i64 0, i32 4
  store i64 %size, ptr %size_at
  ret ptr %made
}

define void @NRT_MemInfo_call_dtor(ptr %made) {
  %apart_at = getelementptr %memory, ptr %made, i64 0, i32 1
  %apart = load ptr, ptr %apart_at
  %within = icmp eq ptr %apart, null
  br i1 %within, label %end, label %other
other:
  %info_at = getelementptr %memory, ptr %made, i64 0, i32 2
  %before_end = load ptr, ptr %info_at
  %data_at = getelementptr %memory, ptr %made, i64 0, i32 3
  %data = load ptr, ptr %data_at
  %size_at = getelementptr %memory, ptr %made, i64 0, i32 4
  %size = load i64, ptr %size_at
  %nothing = icmp eq ptr %before_end, null
  br i1 %nothing, label %free, label %tell
tell:
  call void %before_end(ptr %data, i64 %size, ptr null)
  br label %free
free:
  call void @free(ptr %data)
  br label %end
end:
  call void @free(ptr %made)
  ret void
}

define void @lftj_give_back(ptr %capsule) {
  %made = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %before = atomicrmw sub ptr %made, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %free, label %end
free:
  call void @NRT_MemInfo_call_dtor(ptr %made)
  br label %end
end:
  ret void
}
"""
