/**
 * A thread that kills this process when the parent process has ended for any reason. The thread works even while an operator blocks the
 * main thread. The thread reads from a pipe, and the parent process has the other end of this pipe open. When the parent process ends, the
 * operating system closes the pipe.
 */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const pipe = new Socket({ fd: workerData as number })
pipe.resume()
pipe.on('error', () => undefined)
await once(pipe, 'close')
process.kill(process.pid, 'SIGKILL')
