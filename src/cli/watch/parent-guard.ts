/**
 * A thread that ends its process when the parent process has ended, however that happened. A thread of its own can do this even while an
 * operator blocks the main thread. The parent holds the other end of a pipe, which the system closes when the parent ends.
 */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const pipe = new Socket({ fd: workerData as number })
pipe.resume()
pipe.on('error', () => undefined)
await once(pipe, 'close')
process.kill(process.pid, 'SIGKILL')
