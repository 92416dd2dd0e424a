/** All cases of the driver. The PID namespace contains only the process that runs these cases, and the shell that started this process. */
import './processes.ts'
import './files.ts'
import './without-overlay.ts'
import './networks.ts'
import './ends.ts'
import './capabilities.ts'
