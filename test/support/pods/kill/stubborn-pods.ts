/**
 * The Pods that run during the kill rounds. There are several kinds of Pods, such as `daemon` and `deaf`. The processes of each kind are
 * hard to kill or to clean up for a different reason.
 */
import { pod as podType, service as serviceType } from '../../../../src/api/builtin.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import type { Client } from '../../../../src/client/client.ts'
import { nodeProgram } from '../node-program.ts'

export const namespace = 'default'

export interface StubbornPod {
  /** The name of the Pod or of the Deployment. */
  readonly name: string
  readonly kind: Kind
  /**
   * The commands of the processes that must run while the Pods exist. The list has one item for each process, so a command that several
   * processes have is listed several times. No other `StubbornPod` has these commands.
   */
  readonly processes: readonly string[]
  create(client: Client): Promise<unknown>
  delete(client: Client): Promise<unknown>
}

export const kinds = ['server', 'daemon', 'users', 'deaf', 'chatty', 'session'] as const
type Kind = (typeof kinds)[number]

const image = 'example.com/app:1'

const serverScript = `const text = 'answered by ' + process.env.HOSTNAME
require('http').createServer((request, response) => response.end(text)).listen(8080)`

/** Shell scripts. `$0` is a number of seconds for `sleep`. The test finds the processes of a Pod by this number. */
const scripts = {
  /** Starts two processes in separate sessions. Their parents end immediately. */
  daemon: 'setsid sh -c "sleep $0 & setsid sleep $0 &"; exec sleep "$0"',
  /**
   * Runs `sleep` as another user. When a process changes its user, the kernel clears the setting PR_SET_PDEATHSIG of the process. The
   * process then gets no signal when its parent ends.
   */
  switched: 'exec setpriv --reuid 999 --regid 999 --clear-groups sleep "$0"',
  deaf: 'trap "" TERM INT HUP; (sleep "$0"); while :; do sleep 1; done',
  /** Writes 2 MB of output about once a second. */
  chatty: 'while :; do yes 0123456789abcdef | head -c 2000000; sleep 1; done & exec sleep "$0"',
} as const

/**
 * Returns the `StubbornPod` of one of the `kinds`. `serial` is part of the name and of the commands, so each Pod needs a different
 * `serial`.
 */
export function stubbornPod(kind: Kind, serial: number): StubbornPod {
  const name = `${kind}-${serial}`
  const seconds = String(1_000_000 + serial)
  const sleeping = `sleep ${seconds}`
  const shell = (script: string, more: object = {}): object => ({ name: 'main', image, command: ['sh', '-c', script, seconds], ...more })
  switch (kind) {
    case 'server':
      return server(name)
    case 'daemon':
      return plainPod(kind, name, [shell(scripts.daemon)], [sleeping, sleeping, sleeping])
    case 'users': {
      const user = { ...shell('exec sleep "$0"'), name: 'user', securityContext: { runAsUser: 1000 } }
      return plainPod(kind, name, [user, shell(scripts.switched)], [sleeping, sleeping])
    }
    case 'deaf':
      return plainPod(kind, name, [shell(scripts.deaf)], [sleeping])
    case 'chatty':
      return plainPod(kind, name, [shell(scripts.chatty)], [sleeping])
    case 'session':
      return plainPod(kind, name, [shell('exec sleep "$0"')], [sleeping])
  }
}

function plainPod(kind: Kind, name: string, containers: readonly object[], processes: readonly string[]): StubbornPod {
  const key = { namespace, name }
  return {
    name,
    kind,
    processes,
    create: (client) => client.create(podType, { metadata: key, spec: { terminationGracePeriodSeconds: 1, containers } as never }),
    delete: (client) => client.delete(podType, key),
  }
}

/** A Deployment of a Node.js server, with a Service. */
function server(name: string): StubbornPod {
  const key = { namespace, name }
  const command = [nodeProgram, '-e', serverScript, name]
  const readinessProbe = { httpGet: { port: 8080 }, periodSeconds: 1 }
  const labels = { app: name }
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image, command, readinessProbe }] },
  }
  const replicas = 2
  return {
    name,
    kind: 'server',
    processes: Array.from({ length: replicas }, () => command.join(' ')),
    async create(client) {
      await client.create(serviceType, { metadata: key, spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] } })
      await client.create(apps.deployment, { metadata: key, spec: { replicas, selector: { matchLabels: labels }, template } })
    },
    async delete(client) {
      await client.delete(apps.deployment, key, { propagationPolicy: 'Foreground' })
      await client.delete(serviceType, key)
    },
  }
}
