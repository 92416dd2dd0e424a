/**
 * Records the responses of kube-apiserver to groups of requests, and its discovery documents. The folder
 * `test/devcluster/resources/recorded` contains
 *
 * - `cases`: the requests,
 * - `answers`: the recorded responses,
 * - `discovery.jsonl`: the recorded discovery documents.
 *
 * Each argument is the name of a group of requests, or `discovery`. Without arguments, all groups and the discovery documents are recorded.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import type { JsonObject } from '../src/api/json.ts'
import { messageOf } from '../src/api/errors.ts'
import { systemClock } from '../src/runtime/clock.ts'
import type { Connection } from '../src/client/connection.ts'
import { builtinResources } from '../src/devcluster/resources/builtin/index.ts'
import { startControlPlane } from '../src/testing/control-plane.ts'
import { groups } from '../test/devcluster/resources/recorded/groups.ts'
import type { Request, Send } from '../test/devcluster/resources/recorded/play.ts'
import { play } from '../test/devcluster/resources/recorded/play.ts'

const target = join(import.meta.dirname, '../test/devcluster/resources/recorded/answers')
const asked = new Set(process.argv.slice(2))

const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false })
try {
  const { connection } = controlPlane
  const agent = new Agent({ connect: { ...(connection.ca === undefined ? {} : { ca: connection.ca }) } })
  mkdirSync(target, { recursive: true })
  for (const group of groups) {
    if (asked.size > 0 && !asked.has(group.name)) continue
    const time = new Date(systemClock.now()).toISOString()
    try {
      const answers = await play(group, overHttp(connection, agent))
      const lines = [['recorded', time], ...[...answers].map(([name, answer]) => [name, ...answer])]
      writeFileSync(join(target, `${group.name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      process.stdout.write(`${group.name}: ${answers.size} answers\n`)
    } catch (error) {
      process.stderr.write(`${group.name}: ${messageOf(error)}\n`)
      process.exitCode = 1
    }
  }
  if (asked.size === 0 || asked.has('discovery')) await recordDiscovery(connection, agent)
  await agent.close()
} finally {
  await controlPlane.stop()
}

/**
 * Records the discovery documents of kube-apiserver for the API versions that contain the built-in types of the embedded API server. Each
 * line of the recorded file describes one resource. The field `storageVersionHash` is left out, because `recorded.test.ts` does not compare
 * this field.
 */
async function recordDiscovery(connection: Connection, agent: Agent): Promise<void> {
  const groupVersions = new Set(
    builtinResources.map(({ group, version }) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)),
  )
  const lines: string[] = []
  for (const path of groupVersions) {
    const authorization = await connection.authorization?.()
    const { body } = await request(`${connection.server}/${path}`, {
      dispatcher: agent,
      headers: authorization === undefined ? {} : { authorization },
    })
    const { resources } = (await body.json()) as { resources: JsonObject[] }
    for (const { storageVersionHash: _hash, ...resource } of resources) lines.push(`${JSON.stringify([path, resource])}\n`)
  }
  writeFileSync(join(target, '../discovery.jsonl'), lines.join(''))
}

function overHttp(connection: Connection, agent: Agent): Send {
  return async (asked) => {
    const authorization = await connection.authorization?.()
    const response = await request(connection.server + pathOf(asked), {
      dispatcher: agent,
      method: asked.method,
      headers: {
        accept: asked.asTable === true ? 'application/json;as=Table;v=v1;g=meta.k8s.io' : 'application/json',
        'content-type': 'application/json',
        'user-agent': 'recorder/1',
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
    })
    const warnings = [response.headers.warning ?? []]
      .flat()
      .flatMap((line) => [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replaceAll(/\\(.)/g, '$1')))
    return { code: response.statusCode, body: (await response.body.json()) as JsonObject, warnings: [...new Set(warnings)] }
  }
}

function pathOf({ type, namespace, name, subresource = '', dryRun = false }: Request): string {
  const { group = '', version = 'v1', plural } = type
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
  ]
  return `/${parts.join('/')}${dryRun ? '?dryRun=All' : ''}`
}
