/* eslint no-template-curly-in-string: off -- that is what is tested */
import { describe, expect, it } from '@jest/globals';
import { renderBody, substitute } from './tool-skill.rendering.js';

const role = (tools: string[], mcpServers: string[] = []) => ({
  tools: new Set(tools),
  mcpServers: new Set(mcpServers),
});

describe('a body', () => {
  const body = [
    'Always.',
    '- {{tool a}} with a',
    '  1. {{ mcp_server  s }}with s',
    '{{tool a.b-c}}bare',
    'Not at its start: {{tool a}} {{tool b}}',
    '{{tool}} {{tool a b}} {{server s}}',
  ].join('\n');
  const rest = ['Not at its start: {{tool a}} {{tool b}}', '{{tool}} {{tool a b}} {{server s}}'];

  it.each([
    [role([]), ['Always.', ...rest]],
    [role(['a']), ['Always.', '- with a', ...rest]],
    [role(['s'], ['a']), ['Always.', ...rest]],
    [role(['a.b-c'], ['s']), ['Always.', '  1. with s', 'bare', ...rest]],
    [null, ['Always.', '- with a', '  1. with s', 'bare', ...rest]],
  ])('has the lines of what the role has: %j', (surroundings, lines) => {
    expect(renderBody(body, { surroundings, variables: {} })).toBe(lines.join('\n'));
  });

  it('takes a name for what it is, not for a pattern', () => {
    expect(renderBody('{{tool a.c}} x', { surroundings: role(['abc']), variables: {} })).toBe('');
  });

  it('is not given a condition by a variable, nor a variable by one', () => {
    const variables = { v: '{{tool x}} ${w}', w: 'W' };
    expect(renderBody('${v}', { surroundings: role([]), variables })).toBe('{{tool x}} ${w}');
  });
});

describe('variables', () => {
  const variables = { channel: '#platform', _a1: 'x', empty: '' };
  it.each([
    ['in ${channel}, ${channel}!', 'in #platform, #platform!'],
    ['${_a1}${empty}.', 'x.'],
    [
      '$channel {channel} ${ channel } ${chan-nel} ${} $${channel}',
      '$channel {channel} ${ channel } ${chan-nel} ${} $#platform',
    ],
    ['${unknown} ${constructor} ${__proto__} ${toString}', '${unknown} ${constructor} ${__proto__} ${toString}'],
  ])('%s', (text, expected) => {
    expect(substitute(text, variables)).toBe(expected);
  });

  it('put in what they hold as it is', () => {
    expect(substitute('${a}', { a: '$& $1 $$ `$' })).toBe('$& $1 $$ `$');
  });
});
