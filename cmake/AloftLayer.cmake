# A layer is one folder built as one object library whose include path holds the public headers,
# its own folder and the folders it names in SEES, so that an include that breaks the layering
# does not compile. A layer sees only what it names: SEES is not transitive.
function(aloft_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;SEES;LINK" ${ARGN})
  if(NOT LAYER_SOURCES)
    # A layer that has no file yet is still a target that others can name.
    set(LAYER_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c)
    file(CONFIGURE OUTPUT ${LAYER_SOURCES} CONTENT "typedef int ${name}_empty;\n")
  endif()
  add_library(${name} OBJECT ${LAYER_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_compile_definitions(${name} PRIVATE ALOFT_BUILDING)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                             ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(seen IN LISTS LAYER_SEES)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/${seen})
  endforeach()
  target_link_libraries(${name} PRIVATE aloft_compile ${LAYER_LINK})
endfunction()
