/**
 * A thread that kills this process when the parent process has ended for any reason. The parent process keeps one end of a pipe open, and
 * the thread reads from the other end. When the parent process ends, the operating system closes the pipe. A thread can react even while an
 * operator blocks the main thread.
 */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const pipe = new Socket({ fd: workerData as number })
pipe.resume()
pipe.on('error', () => undefined)
await once(pipe, 'close')
process.kill(process.pid, 'SIGKILL')
