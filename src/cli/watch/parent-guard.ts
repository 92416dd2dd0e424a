/**
 * A thread that kills this process when the parent process has ended for any reason. The thread works even while an operator blocks the
 * main thread. The parent process holds the other end of a pipe. The system closes the pipe when the parent process ends.
 */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const pipe = new Socket({ fd: workerData as number })
pipe.resume()
pipe.on('error', () => undefined)
await once(pipe, 'close')
process.kill(process.pid, 'SIGKILL')
