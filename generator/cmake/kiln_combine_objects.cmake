# cmake -D LINKER=ld -D LIST=file -D OBJECT=out.o -P kiln_combine_objects.cmake
# Joins the objects in LIST (one name a line) into OBJECT. OBJECT is written only if it changes. Sections are not merged, so the
# application's --gc-sections still drops the programs that it does not call.
if(NOT EXISTS ${LIST})
  message(FATAL_ERROR "the generator ran and wrote nothing: does one of the SOURCES define main()?")
endif()
file(STRINGS ${LIST} objects ENCODING UTF-8)
execute_process(COMMAND ${LINKER} -r -o ${OBJECT}.new ${objects} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${OBJECT}.new ${OBJECT} ONLY_IF_DIFFERENT)
file(REMOVE ${OBJECT}.new)
