/** `proreus dev --watch` in a folder with an operator of two files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { core } from '../../../src/api/kubernetes/core.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import { loadConnection } from '../../../src/client/kubeconfig.ts'
import { until } from '../../../src/testing/until.ts'
import type { Running } from './process.ts'
import { startProreus } from './process.ts'

/**
 * For each ConfigMap with the label `watched`, the operator passes the value of the key `word` to the function `said`, and writes the
 * result into the annotation `said`. The process of the operator writes its process id to a file.
 */
const operator = `
import { writeFileSync } from 'node:fs'
import { core, defineController, defineOperator, defineWebhook, invalid } from 'proreus'
import { said } from './said.ts'

writeFileSync('operators.pid', String(process.pid))

export const operator = defineOperator({
  name: 'sayer',
  kinds: [],
  webhooks: [
    defineWebhook(core.configMap, {
      objectSelector: { matchLabels: { watched: 'yes' } },
      validate: ({ data }) => (data?.['word'] === 'bye' ? [invalid('data.word', 'bye', 'must greet')] : []),
    }),
  ],
  controllers: [
    defineController(core.configMap, {
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }],
      async reconcile({ metadata, data }, { client }) {
        if (metadata.labels?.['watched'] !== 'yes') return
        const { namespace, name, annotations } = metadata
        const text = said(data?.['word'] ?? '')
        if (annotations?.['said'] !== text) await client.patch(core.configMap, { namespace, name }, { metadata: { annotations: { said: text } } })
      },
    }),
  ],
})
`

/** Returns the text of the module `said.ts`. The function `said` of this module appends the suffix to a word. */
export function saidWith(suffix: string): string {
  return `export const said = (word: string): string => word + '${suffix}'\n`
}

export interface WatchedDev {
  readonly running: Running
  readonly folder: string
  /** Replaces a file of the folder. */
  save(name: string, content: string): void
  /** Resolves when `count(text)` is at least `times` (default 1). */
  untilOutput(text: string, times?: number): Promise<void>
  /** Returns how often the output contains the text. */
  count(text: string): number
  /** Returns a client of the cluster. The client is closed at the end of the test. */
  client(): Promise<Client>
  /** Returns the id of the process that runs the operators. */
  operatorsPid(): number
}

/**
 * Starts `proreus dev --watch` with the further arguments `args`, in a new folder that contains `operator.ts`, `said.ts` and the given
 * files.
 */
export function watchedDev(t: Test, files: Readonly<Record<string, string>> = {}, args: readonly string[] = []): WatchedDev {
  const folder = t.testdir({ 'operator.ts': operator, 'said.ts': saidWith('!'), ...files })
  const running = startProreus(['dev', '--watch', '--port', '0', '--operators', './operator.ts', ...args], { cwd: folder })
  t.teardown(() => running.stop('SIGKILL'))
  const count = (text: string): number => running.output().split(text).length - 1
  return {
    running,
    folder,
    save: (name, content) => writeFileSync(join(folder, name), content),
    count,
    async untilOutput(text, times = 1) {
      await until(`the output contains ${JSON.stringify(text)} ${times} times`, () => count(text) >= times).catch((cause: unknown) => {
        throw new Error(running.output(), { cause })
      })
    },
    async client() {
      const client = createClient(await loadConnection({ env: { KUBECONFIG: join(folder, '.proreus/kubeconfig') } }))
      t.teardown(() => client.close())
      return client
    },
    operatorsPid: () => Number(readFileSync(join(folder, 'operators.pid'), 'utf8')),
  }
}

/** Creates a ConfigMap for the operator. */
export function createWord(client: Client, name: string, word: string): Promise<core.ConfigMap> {
  return client.create(core.configMap, { metadata: { namespace: 'default', name, labels: { watched: 'yes' } }, data: { word } })
}

/** Resolves when the annotation `said` of the ConfigMap has the value `expected`. */
export async function untilSaid(client: Client, name: string, expected: string): Promise<core.ConfigMap> {
  return until(`${name} has the annotation ${expected}`, async () => {
    const object = await client.get(core.configMap, { namespace: 'default', name })
    return object.metadata.annotations?.['said'] === expected && object
  })
}

/** Returns true while a process with this id exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`
  if (existsSync('/proc/self/stat')) return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'))
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
