/**
 * Compares the embedded API server's responses for built-in types with the recorded responses of kube-apiserver 1.36.3 (`npm run record`).
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { Discovery } from '../../../src/devcluster/http/discovery.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import type { Answer } from './recorded/answer.ts'
import { embeddedServer } from './recorded/embedded.ts'
import type { Group } from './recorded/group.ts'
import { groups } from './recorded/groups.ts'
import { play } from './recorded/play.ts'

/** Accepted differences from kube-apiserver. Each difference has the name of the group, the reason, and the name of the request. */
const differences = linesOf('differences.jsonl') as [string, string, string][]

for (const group of groups) t.test(group.name, (t) => compare(t, group))

for (const [reason, { length }] of Map.groupBy(differences, ([, why]) => why))
  t.test(`${length} other cases`, { skip: reason }, (t) => t.end())

t.test('discovery lists the names, verbs and subresources of kube-apiserver', (t) => {
  const recorded = linesOf('discovery.jsonl') as [string, JsonObject][]
  const discovery = new Discovery(new Catalog(builtinResources))
  const rows = builtinResources.map(({ group, version }) => [group, version] as const)
  for (const [group, version] of new Map(rows.map((row) => [row.join('/'), row])).values()) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const { resources } = discovery.resourceList(group, version)!
    for (const { storageVersionHash: _hash, ...resource } of resources as JsonObject[]) {
      const theirs = recorded.find(([where, { name }]) => where === path && name === resource.name)
      t.strictSame(resource, theirs?.[1], `${path}/${String(resource.name)}`)
    }
  }
  t.end()
})

/**
 * Sends the requests of a group to the embedded API server, and compares its responses with the recorded responses. The test fails if two
 * responses differ and `differences` does not contain the request. The test also fails if `differences` contains a request whose two
 * responses are equal.
 */
async function compare(t: Test, group: Group): Promise<void> {
  const { time, answers: recorded } = recordedAnswers(group)
  const found = await play(group, embeddedServer(time))
  const listed = differences.filter(([name]) => name === group.name).map(([, , name]) => name)
  const unlisted = (answers: ReadonlyMap<string, Answer>): Record<string, Answer> =>
    Object.fromEntries([...answers].filter(([name]) => !listed.includes(name)))
  t.strictSame([...found.keys()], [...recorded.keys()], 'every request has been recorded')
  t.strictSame(unlisted(found), unlisted(recorded))
  const agreeing = listed.filter((name) => isDeepStrictEqual(found.get(name), recorded.get(name)))
  t.strictSame(agreeing, [], 'every listed difference exists')
}

function recordedAnswers({ name }: Group): { readonly time: number; readonly answers: ReadonlyMap<string, Answer> } {
  const [first, ...lines] = linesOf(`answers/${name}.jsonl`) as [string, ...Answer][]
  return { time: Date.parse(String(first![1])), answers: new Map(lines.map(([what, ...answer]) => [what, answer])) }
}

function linesOf(file: string): unknown[] {
  const text = readFileSync(new URL(`recorded/${file}`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}
