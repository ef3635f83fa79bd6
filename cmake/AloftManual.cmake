# The manual: section 1 with the command, section 3 with the library. A page of section 3 lists what
# it describes in its NAME; for each of those names a page is installed that leads to it (".so"), so
# that "man aloft_nats_publish" works.
if(TARGET aloft_command)
  install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
endif()

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.3)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
set(links ${CMAKE_BINARY_DIR}/man3)
file(REMOVE_RECURSE ${links})
foreach(page IN LISTS pages)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  get_filename_component(title ${page} NAME_WE)
  file(STRINGS ${page} names REGEX "^\\.Nm [A-Za-z0-9_]+")
  foreach(line IN LISTS names)
    string(REGEX REPLACE "^\\.Nm ([A-Za-z0-9_]+).*" "\\1" name "${line}")
    if(NOT name STREQUAL title)
      file(WRITE ${links}/${name}.3 ".so man3/${title}.3\n")
    endif()
  endforeach()
endforeach()
install(DIRECTORY ${links}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
