/**
 * All cases of the driver. The cases run in their own PID namespace. This PID namespace contains only the process that runs the cases, and
 * the shell that started this process.
 */
import './processes.ts'
import './files.ts'
import './without-overlay.ts'
import './networks.ts'
import './ends.ts'
import './capabilities.ts'
