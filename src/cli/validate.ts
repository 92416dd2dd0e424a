/** `proreus validate`: validates custom resources in files as the webhooks do, but without a cluster. */
import { Command, Option } from 'commander'
import { Exit } from './exit.ts'
import { kubectlText } from './kubectl-text.ts'
import { operatorsOption, selectOperators } from './operators.ts'

interface Options {
  operators?: string
  output: 'text' | 'json'
}

export function validateCommand(): Command {
  return new Command('validate')
    .description("Check custom resources in files against defaults, schema and the kind's own rules, offline. Prints what kubectl would.")
    .argument('<file...>', 'YAML or JSON files, folders, or - for standard input')
    .addOption(operatorsOption())
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExit codes: 0 all valid, 1 an object is invalid or no object was found, 2 input could not be read.')
    .action(async (files: string[], { operators, output }: Options) => {
      const { operators: selected } = await selectOperators({ operators })
      const webhooks = selected.flatMap((operator) => operator.webhooks)
      const conversions = selected.flatMap((operator) => operator.conversions)
      const kinds = selected.flatMap((operator) => operator.kinds)
      const { readManifests, UnreadableInput } = await import('./manifests-input.ts')
      const { reviewOffline } = await import('../webhook/validate-offline.ts')
      const results: object[] = []
      let code = 0
      let inputs = 0
      for await (const input of readManifests(files)) {
        inputs += 1
        if (input instanceof UnreadableInput) {
          process.stderr.write(`${input.source}: ${input.problem}\n`)
          code = 2
          continue
        }
        const { source, object } = input
        const review = await reviewOffline(webhooks, object, undefined, conversions, kinds)
        if (!review.valid && code === 0) code = 1
        if (output === 'json') results.push({ source, ...review })
        else process.stdout.write(kubectlText(source, review))
      }
      if (output === 'json') process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
      if (inputs === 0) {
        // A folder or input without any object must not count as valid.
        process.stderr.write(`There is no object in ${files.join(', ')}, so nothing was validated.\n`)
        code = 1
      }
      if (code !== 0) throw new Exit(code)
    })
}
