/** `loopbackTarget`: simulates a container that uses the network of this machine and runs its commands as processes of this machine. */
import { spawn } from 'node:child_process'
import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Test } from 'tap'
import type { ExecProcess } from '../../../src/devcluster/pods/driver.ts'
import { ContainerStartError } from '../../../src/devcluster/pods/driver.ts'
import type { ProbeTarget } from '../../../src/devcluster/pods/probes/probe-target.ts'

export const loopbackTarget: ProbeTarget = {
  address: '127.0.0.1',
  connect: (port, host = '127.0.0.1') =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host })
      socket.once('connect', () => resolve(socket))
      socket.once('error', reject)
    }),
  execute: ([program = '', ...args]) =>
    new Promise<ExecProcess>((resolve, reject) => {
      const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
      child.once('error', () => reject(new ContainerStartError(`exec: "${program}": executable file not found in $PATH`)))
      const exited = new Promise<number>((done) => child.once('exit', (code) => done(code ?? 137)))
      const { stdout, stderr, pid } = child
      child.once('spawn', () =>
        resolve({ stdout, stderr, exited, resize: () => undefined, kill: () => void (pid !== undefined && process.kill(-pid, 'SIGKILL')) }),
      )
    }),
}

/** A server on a free port of 127.0.0.1. */
export interface Listening {
  readonly port: number
  /** The number of open connections. */
  readonly connections: number
}

/** Starts a server, and stops it at the end of the test. */
export async function listen(t: Test, server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Clients may disconnect at any time.
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return {
    port: portOf(server),
    get connections() {
      return sockets.size
    },
  }
}

/** Returns a port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
