/**
 * Writes `src/devcluster/types/merge-rules.json`: how the lists, maps and structs of Kubernetes' built-in types are merged, and the
 * defaults of their fields. The script reads the tags (`patchStrategy`) and the markers (`+listType`, `+default`) of the Go structs in the
 * modules that `tools/kubernetes` requires.
 *
 * With `--check`, the script writes nothing, and exits with 1 when the file is out of date. The check is skipped when Go or a module is
 * missing.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const target = join(root, 'src/devcluster/types/merge-rules.json')
const { messages } = JSON.parse(readFileSync(join(root, 'src/devcluster/protobuf/descriptors.json'), 'utf8')) as {
  messages: Readonly<Record<string, string>>
}

const folders: Readonly<Record<string, string>> = {
  meta: 'pkg/apis/meta',
  apiextensions: 'pkg/apis/apiextensions',
  apiregistration: 'pkg/apis/apiregistration',
}
const moduleNames = ['k8s.io/api', 'k8s.io/apimachinery', 'k8s.io/apiextensions-apiserver', 'k8s.io/kube-aggregator']
/** Maps a group to the index of its module in `moduleNames`. All other groups are in the first module. */
const moduleOf: Readonly<Record<string, number>> = { meta: 1, apiextensions: 2, apiregistration: 3 }

function goModules(download: boolean): readonly { readonly Path: string; readonly Dir?: string }[] {
  const args = download ? ['mod', 'download', '-json', ...moduleNames] : ['list', '-m', '-json', ...moduleNames]
  const { status, stdout } = spawnSync('go', args, { cwd: join(root, 'tools/kubernetes'), encoding: 'utf8' })
  return status === 0 ? JSON.parse(`[${stdout.trim().replaceAll(/\}\s*\{/g, '},{')}]`) : []
}

/**
 * Returns the merge rules of the structs in a Go package, keyed by the name of the struct. The rules of a struct are keyed by the JSON
 * names of its fields. A rule for the struct itself has the key `''`.
 */
function rulesOf(folder: string): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>()
  const sources = readdirSync(folder).filter(
    (name) => /^types.*\.go$/.test(name) && !name.includes('swagger') && !name.endsWith('_test.go'),
  )
  for (const source of sources.map((name) => readFileSync(join(folder, name), 'utf8'))) {
    for (const [, comment = '', name = '', body = ''] of source.matchAll(/((?:^\/\/[^\n]*\n)*)^type (\w+) struct \{\n(.*?)^\}/gms)) {
      const rules: Record<string, string> = {}
      const own = rule(comment, '')
      if (own !== '') rules[''] = own
      for (const [, fieldComment = '', tags = ''] of body.matchAll(/((?:^[ \t]*\/\/.*\n)*)^[ \t]+[\w.*[\] \t]+`([^`]*)`/gm)) {
        const field = /json:"([^",]+)/.exec(tags)?.[1]
        const text = rule(fieldComment, tags)
        if (field !== undefined && text !== '') rules[field] = text
      }
      if (Object.keys(rules).length > 0) found.set(name, rules)
    }
  }
  return found
}

function rule(comment: string, tags: string): string {
  const marker = (name: string): readonly string[] =>
    [...comment.matchAll(new RegExp(`^\\s*// \\+${name}=(.*)$`, 'gm'))].map((match) => match[1]!.trim())
  const strategies = /patchStrategy:"([^"]*)"/.exec(tags)?.[1]?.split(',') ?? []
  const mergeKey = /patchMergeKey:"([^"]*)"/.exec(tags)?.[1]
  const [listType] = marker('listType')
  const atomic = listType === 'atomic' || marker('mapType')[0] === 'atomic' || marker('structType')[0] === 'atomic'
  const [value] = marker('default').filter((text) => /^("|\d|true|false)/.test(text))
  return [
    ...strategies.map((strategy) => (strategy === 'merge' && mergeKey !== undefined ? `merge:${mergeKey}` : strategy)),
    ...(listType === 'set' ? ['set'] : listType === 'map' ? [`map:${marker('listMapKey').join(',')}`] : []),
    // A map or struct with a marker `atomic` gets the rule `atomic`. A list with the marker gets this rule only if the list has a patch
    // strategy. Without a patch strategy, no rule is necessary, because server-side apply treats a list without a rule as atomic.
    ...(atomic && (listType === undefined || strategies.length > 0) ? ['atomic'] : []),
    ...(value === undefined ? [] : [`default:${value}`]),
  ].join(' ')
}

const check = process.argv.includes('--check')
const modules = goModules(!check)
if (modules.length === 0 || modules.some(({ Dir }) => Dir === undefined)) {
  process.stdout.write(
    check ? 'not compared: there are no Go modules of Kubernetes here\n' : 'go cannot give the modules of tools/kubernetes\n',
  )
  process.exitCode = check ? 0 : 1
} else {
  const dirOf = (group: string): string => modules[moduleOf[group] ?? 0]!.Dir!
  const packages = new Map<string, Map<string, Record<string, string>>>()
  const rules: Record<string, Record<string, string>> = {}
  for (const message of Object.keys(messages)) {
    const [group = '', version = '', name = ''] = message.split('.')
    if (!/^v\d/.test(version)) continue
    const key = `${group}/${version}`
    if (!packages.has(key)) packages.set(key, rulesOf(join(dirOf(group), folders[group] ?? group, version)))
    const found = packages.get(key)!.get(name)
    if (found !== undefined) rules[message] = found
  }
  // If a module has a `replace` directive, `Version` is the version before the replacement. Therefore, the version comes from the name of
  // the module's folder.
  const versions = modules.map(({ Dir, Path }) => `${Path} ${Dir!.slice(Dir!.lastIndexOf('@') + 1)}`)
  const about = `How lists and maps of Kubernetes' own types merge: the strategy of a strategic merge patch (merge:key, retainKeys), the list type of server-side apply (map:keys, set, atomic). Written by scripts/merge-rules.ts from ${versions.join(', ')}.`
  const text = `${JSON.stringify({ about, rules }, undefined, 2)}\n`
  if (!check) {
    writeFileSync(target, text)
  } else if (readFileSync(target, 'utf8') !== text) {
    process.stdout.write('not up to date: src/devcluster/types/merge-rules.json; run "npm run merge-rules"\n')
    process.exitCode = 1
  }
}
