/**
 * Writes `src/api/kubernetes/models.ts`: TypeScript types for the JSON form of Kubernetes' built-in types, generated from the models of
 * @kubernetes/client-node. The models themselves are not suitable:
 *
 * - They are classes that use `Date` for times.
 * - They are about nine hundred files. A program that only needs the type of a Pod would compile slowly.
 *
 * The types are members of an exported namespace, so that the compiler can name them in the declaration files of users. For example, if the
 * schema of a kind contains `Type.Builtin('PodTemplateSpec')`, the declaration of the kind names the type of a PodTemplateSpec. With
 * `export * as models`, the compiler could name the types only in files that import `models.ts`.
 *
 * With `--check`, exits with 1 when the file is out of date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const models = join(root, 'node_modules/@kubernetes/client-node/dist/gen/models')
const groups = join(root, 'src/api/kubernetes')
const target = join(groups, 'models.ts')

/** The files that use models (`models.V1Pod`). The script writes these models, and the models that their fields refer to. */
const readers = [
  ...readdirSync(groups)
    .map((name) => join(groups, name))
    .filter((path) => path !== target),
  join(root, 'src/api/builtin-types.ts'),
  join(root, 'src/webhook/definition/subresource.ts'),
]

const interfaces = new Map<string, string>()

function addModel(name: string): void {
  if (interfaces.has(name)) return
  interfaces.set(name, '')
  const path = join(models, `${name}.d.ts`)
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const model = file.statements.find(ts.isClassDeclaration)
  if (model === undefined) throw new Error(`${path} has no class`)
  const fields = model.members.filter(ts.isPropertyDeclaration).filter(({ modifiers }) => modifiers === undefined)
  const names = jsonNames(name)
  const nameOf = (field: ts.PropertyDeclaration): string => {
    const jsonName = names.get((field.name as ts.StringLiteral).text)
    if (jsonName === undefined) throw new Error(`${path} has ${field.name.getText()}, and ${name}.js has not`)
    return quoted(jsonName)
  }
  const lines = fields.map((field) => `    ${nameOf(field)}${optional(field)}: ${jsonType(field.type!)}`)
  interfaces.set(name, [`  interface ${name} {`, ...lines, '  }'].join('\n'))
}

/**
 * Returns the JSON names of a model's fields, keyed by the field names in client-node. client-node renames reserved words and names with
 * dashes.
 */
function jsonNames(model: string): ReadonlyMap<string, string> {
  const source = readFileSync(join(models, `${model}.js`), 'utf8')
  return new Map([...source.matchAll(/"name": "(.*)",\s*"baseName": "(.*)"/g)].map(([, name, baseName]) => [name!, baseName!]))
}

function quoted(name: string): string {
  return /^[\w$]+$/.test(name) ? name : `'${name}'`
}

function optional({ questionToken }: ts.PropertyDeclaration): string {
  return questionToken === undefined ? '' : '?'
}

/** Returns the TypeScript type of the JSON value of a field. */
function jsonType(type: ts.TypeNode): string {
  const text = type.getText()
  if (text === 'any') return 'unknown'
  if (['string', 'number', 'boolean'].includes(text)) return text
  if (ts.isTypeLiteralNode(type)) {
    const [member] = type.members
    if (member !== undefined && ts.isIndexSignatureDeclaration(member)) return `Record<string, ${jsonType(member.type)}>`
  }
  if (ts.isArrayTypeNode(type)) return `${jsonType(type.elementType)}[]`
  if (ts.isTypeReferenceNode(type)) {
    const name = type.typeName.getText()
    switch (name) {
      case 'Date':
      case 'V1MicroTime':
        return 'string'
      case 'IntOrString':
        return 'number | string'
      case 'Array': {
        const item = jsonType(type.typeArguments![0]!)
        return item.includes(' ') ? `(${item})[]` : `${item}[]`
      }
    }
    addModel(name)
    return name
  }
  throw new Error(`A type that is not known here: ${text}`)
}

for (const reader of readers) for (const [, name] of readFileSync(reader, 'utf8').matchAll(/\bmodels\.([A-Z]\w*)/g)) addModel(name!)
const header = [
  "/** Kubernetes' own types as they are in JSON. Written by `npm run kubernetes-models` from @kubernetes/client-node; do not edit. */",
  'export declare namespace models {',
].join('\n')
const members = [...interfaces].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, lines]) => lines)
const text = `${header}\n${members.join('\n\n')}\n}\n`
if (!process.argv.includes('--check')) writeFileSync(target, text)
else if (readFileSync(target, 'utf8') !== text) {
  process.stderr.write('src/api/kubernetes/models.ts is not up to date: run "npm run kubernetes-models" and commit the result.\n')
  process.exitCode = 1
}
